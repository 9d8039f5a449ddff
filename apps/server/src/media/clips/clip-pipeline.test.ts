import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { makeTestFolder } from "../../platform/test-folder.ts";
import type { AssetLedger, MediaIndex, VideoSpec } from "../../ports/index.ts";
import { ArchiveMp4 } from "../delivery/archive/archive-mp4.ts";
import { AssetPipeline } from "../vod/asset-pipeline.ts";
import { SourceFiles } from "../vod/source-files.ts";
import { VodChildren } from "../vod/vod-children.ts";
import { decodePictures, everyFrame, makeFile } from "../vod/vod-rig.ts";
import { VodTurns } from "../vod/vod-turns.ts";
import { ClipPipeline } from "./clip-pipeline.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const SOURCE = "v1/project-1/asset/parent/source/original";
const OUT = "v1/project-1/asset/clip/out/1/";

let folder: string;
let store: LocalObjectStore;
const children = new VodChildren(systemClock);
let parent: MediaIndex;

/** Fifty pictures in two seconds, each with its number in it, with B-frames, in segments of ten; and sound. */
beforeAll(async () => {
  folder = makeTestFolder("clips");
  store = new LocalObjectStore(join(folder, "objects"));
  await store.open();
  await using file = await makeFile({
    format: "mp4",
    video: { encoder: "libx264", options: { preset: "ultrafast", bf: "2" }, times: everyFrame(25, 2), gopFrames: 10 },
    audio: { encoder: "aac", seconds: 2 },
  });
  await store.putFile(SOURCE, file.path);
  const sources = new SourceFiles({ store, folder: join(folder, "sources"), freeBytes: () => 1e12 });
  await sources.open();
  const ledger = ledgerOf({
    ...{ assetId: "parent", projectId: "project-1", sourceKey: SOURCE, sourceBytes: 1 },
    ...{ attempt: 1, outPrefix: "v1/project-1/asset/parent/out/1/", profiles: [], staticMp4: false },
    ...{ targetSegmentSeconds: 0.4, progress: 0 },
  });
  const settings = {
    clock: systemClock,
    log: silentLog,
    store,
    sources,
    children,
    scans: new VodTurns(() => 2),
    chunks: new VodTurns(() => 1),
    preset: "ultrafast",
  };
  await new AssetPipeline(settings).process("parent", ledger, new AbortController().signal);
  parent = atNoon(ledger.media());
});
afterAll(() => rm(folder, { recursive: true, force: true }));

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

function ledgerOf(work: Awaited<ReturnType<AssetLedger["beginProcessing"]>>) {
  let media: MediaIndex | null = null;
  const told: { spec?: VideoSpec; sentence?: string } = {};
  return {
    told,
    media: () => media ?? expect.fail(told.sentence ?? "nothing was made"),
    beginProcessing: async () => work,
    progressed: async () => {},
    probed: async (_id: string, spec: VideoSpec) => void Object.assign(told, { spec }),
    playable: async () => {},
    finished: async (_id: string, made: MediaIndex) => {
      media = made;
    },
    failed: async (_id: string, sentence: string) => void Object.assign(told, { sentence }),
  };
}

async function clip(fromSeconds: number, toSeconds: number) {
  const ledger = ledgerOf(null);
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
      runs.push({ init, bytes: [await buffer(await store.read(`${keyPrefix}source/${init}`))] });
    const range = { start: offset, end: offset + length - 1 };
    runs.at(-1)?.bytes.push(await buffer(await store.read(`${keyPrefix}source/${span}`, range)));
  }
  return (await Promise.all(runs.map(({ bytes }) => decodePictures(Buffer.concat(bytes))))).flat();
}

async function mp4Of(index: MediaIndex): Promise<Buffer> {
  const read = async (rendition: string, file: string) =>
    buffer(await store.read(`${index.keyPrefix}${rendition}/${file}`));
  const mp4 = await ArchiveMp4.build(index, read, new Slices(systemClock), "source");
  const pieces: Uint8Array[] = [];
  const bytes = mp4.read({ start: 0, end: mp4.size - 1 }, (rendition, span, range) =>
    readSpan(`${index.keyPrefix}${rendition}/${span}`, range),
  );
  for await (const piece of bytes) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}

async function* readSpan(key: string, range: { start: number; end: number }): AsyncGenerator<Uint8Array, void> {
  yield* await store.read(key, range);
}

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

test.each([
  ["in the middle of segments", 0.3, 1.9, upTo(8, 48)],
  ["inside one segment", 0.92, 1.08, upTo(23, 27)],
  ["along the edges of segments", 0.4, 1.2, upTo(10, 30)],
  ["to the end and beyond", 1.7, 9, upTo(43, 50)],
])("a clip that is cut %s begins and ends with the right picture", async (_situation, from, to, numbers) => {
  const { told, media } = await clip(from, to);
  const pictures = await picturesOf(media());
  expect(pictures.map(({ number }) => number)).toEqual(numbers);
  expect(pictures[0]?.seconds).toBeLessThan(0.1);
  const steps = pictures.slice(1).map(({ seconds }, n) => Math.round((seconds - (pictures[n]?.seconds ?? 0)) * 1000));
  expect(new Set(steps)).toEqual(new Set([40]));
  const whole = await decodePictures(await mp4Of(media()));
  expect([whole[0]?.number, whole.at(-1)?.number]).toEqual([numbers[0], numbers.at(-1)]);
  expect(told.spec).toMatchObject({ tracks: [{ codec: "h264" }, { codec: "aac" }] });
  expect(told.spec?.duration).toBeCloseTo(Math.min(to, 2) - from, 3);
});

test("the sound of a clip is as long as its pictures, and the middle is the parent's bytes", async () => {
  const [video, audio] = (await clip(0.5, 1.5)).media().renditions;
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
  expect((await clip(-10, -5)).told.sentence).toMatch(/^There is nothing between the start and the end of the clip/);
});
