import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import type { MediaIndex } from "../../ports/index.ts";
import { AssetPipelineRig, KeptLedger } from "../vod/asset-pipeline-rig.ts";
import { decodePictures } from "../vod/decoded-file-rig.ts";
import { makeFile } from "../vod/media-file-rig.ts";
import { everyFrame } from "../vod/media-track-rig.ts";
import { VodChildren } from "../vod/vod-children.ts";
import { ClipPipeline } from "./clip-pipeline.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const SOURCE = "v1/project-1/asset/parent/source/original";
const OUT = "v1/project-1/asset/clip/out/1/";

let rig: AssetPipelineRig;
const children = new VodChildren(systemClock);
let parent: MediaIndex;

/** Fifty pictures in two seconds, each with its number in it, with B-frames, in segments of ten; and sound. */
beforeAll(async () => {
  rig = await AssetPipelineRig.open(children);
  await using file = await makeFile({
    format: "mp4",
    video: { encoder: "libx264", options: { preset: "ultrafast", bf: "2" }, times: everyFrame(25, 2), gopFrames: 10 },
    audio: { encoder: "aac", seconds: 2 },
  });
  await rig.store.putFile(SOURCE, file.path);
  const ledger = new KeptLedger({
    ...{ assetId: "parent", projectId: "project-1", sourceKey: SOURCE, sourceBytes: 1 },
    ...{ attempt: 1, outPrefix: "v1/project-1/asset/parent/out/1/", profiles: [], staticMp4: false },
    ...{ targetSegmentSeconds: 0.4, progress: 0 },
  });
  await rig.pipeline.process("parent", ledger, new AbortController().signal);
  parent = atNoon(ledger.media);
});
afterAll(() => rig[Symbol.asyncDispose]());

/** As a recording says when its pictures were: the first at noon. */
function atNoon(index: MediaIndex): MediaIndex {
  const [video] = index.renditions;
  const firstMs = ((video?.segments[0]?.startTicks ?? 0) * 1000) / (video?.track.timescale ?? 1);
  return {
    ...index,
    renditions: index.renditions.map((rendition) => ({
      ...rendition,
      segments: rendition.segments.map((segment) => ({
        ...segment,
        programDateTimeMs: NOON + Math.round((segment.startTicks * 1000) / rendition.track.timescale - firstMs),
      })),
    })),
  };
}

async function clip(fromSeconds: number, toSeconds: number) {
  const { store, folder } = rig;
  const ledger = new KeptLedger();
  const pipeline = new ClipPipeline({ clock: systemClock, store, children, folder, preset: "ultrafast" });
  const work = {
    ...{ assetId: "clip", projectId: "project-1", outPrefix: OUT, parent },
    ...{ fromMs: NOON + fromSeconds * 1000, toMs: NOON + toSeconds * 1000 },
  };
  await pipeline.make(work, ledger, new AbortController().signal);
  return ledger;
}

/** As an HLS player shows it: each decoder configuration in a decoder of its own. */
async function picturesOf({ keyPrefix, renditions: [video] }: MediaIndex) {
  const runs: { init: string; bytes: Buffer[] }[] = [];
  for (const { init, span, offset, length } of video?.segments ?? []) {
    if (runs.at(-1)?.init !== init)
      runs.push({ init, bytes: [await buffer(await rig.store.read(`${keyPrefix}source/${init}`))] });
    const range = { start: offset, end: offset + length - 1 };
    runs.at(-1)?.bytes.push(await buffer(await rig.store.read(`${keyPrefix}source/${span}`, range)));
  }
  return (await Promise.all(runs.map(({ bytes }) => decodePictures(Buffer.concat(bytes))))).flat();
}

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

test.each([
  ["in the middle of segments", 0.3, 1.9, upTo(8, 48)],
  ["inside one segment", 0.92, 1.08, upTo(23, 27)],
  ["along the edges of segments", 0.4, 1.2, upTo(10, 30)],
  ["to the end and beyond", 1.7, 9, upTo(43, 50)],
])("a clip that is cut %s begins and ends with the right picture", async (_situation, from, to, numbers) => {
  const { spec, media } = await clip(from, to);
  const pictures = await picturesOf(media);
  expect(pictures.map(({ number }) => number)).toEqual(numbers);
  expect(pictures[0]?.seconds).toBeLessThan(0.1);
  const steps = pictures.slice(1).map(({ seconds }, n) => Math.round((seconds - (pictures[n]?.seconds ?? 0)) * 1000));
  expect(new Set(steps)).toEqual(new Set([40]));
  const whole = await decodePictures(await rig.mp4(media, "source"));
  expect([whole[0]?.number, whole.at(-1)?.number]).toEqual([numbers[0], numbers.at(-1)]);
  expect(spec).toMatchObject({ tracks: [{ codec: "h264" }, { codec: "aac" }] });
  expect(spec?.duration).toBeCloseTo(Math.min(to, 2) - from, 3);
});

test("the sound of a clip is as long as its pictures, and the middle is the parent's bytes", async () => {
  const [video, audio] = (await clip(0.5, 1.5)).media.renditions;
  const seconds = (rendition: typeof video) =>
    (rendition?.segments.reduce((sum, { durationTicks }) => sum + durationTicks, 0) ?? 0) /
    (rendition?.track.timescale ?? 1);
  expect(seconds(video)).toBeCloseTo(1, 1);
  expect(seconds(audio)).toBeCloseTo(1, 1);
  expect(video?.segments.map(({ msn, discontinuity }) => [msn, discontinuity])).toEqual([
    ...[
      [1, false],
      [2, true],
      [3, true],
    ],
  ]);
  const inits = video?.segments.map(({ init }) => init);
  expect(inits?.[1]).toBe(parent.renditions[0]?.segments[0]?.init);
});

test("a clip of a time that was not recorded fails with a sentence", async () => {
  expect((await clip(-10, -5)).sentence).toMatch(/^There is nothing between the start and the end of the clip/);
});
