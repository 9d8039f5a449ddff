import { buffer } from "node:stream/consumers";
import { FragmentEditor, readSamples } from "@weir/formats/mp4";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import type { MediaIndex } from "../../ports/index.ts";
import { AssetPipelineRig, KeptRun } from "../vod/asset-pipeline-rig.ts";
import { decodePictures } from "../vod/decoded-file-rig.ts";
import { makeFile } from "../vod/media-file-rig.ts";
import { everyFrame } from "../vod/media-track-rig.ts";
import { VodChildren } from "../vod/vod-children.ts";
import { ClipPipeline } from "./clip-pipeline.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const OUT = "v1/project-1/asset/clip/out/1/";

let rig: AssetPipelineRig;
const children = new VodChildren(systemClock);
let parent: MediaIndex;

/** Fifty numbered pictures in two seconds with B-frames, in segments of ten, and audio. */
beforeAll(async () => {
  rig = await AssetPipelineRig.open(children);
  parent = atNoon(await process("parent", { bf: "2" }));
});
afterAll(() => rig[Symbol.asyncDispose]());

/** The asset made from such a file. */
async function process(assetId: string, options: Record<string, string>): Promise<MediaIndex> {
  await using file = await makeFile({
    format: "mp4",
    video: {
      encoder: "libx264",
      options: { preset: "ultrafast", ...options },
      times: everyFrame(25, 2),
      gopFrames: 10,
    },
    audio: { encoder: "aac", seconds: 2 },
  });
  const sourceKey = `v1/project-1/asset/${assetId}/source/original`;
  await rig.store.putFile(sourceKey, file.path);
  const work = {
    assetId,
    projectId: "project-1",
    sourceKey,
    sourceBytes: 1,
    attempt: 1,
    outPrefix: `v1/project-1/asset/${assetId}/out/1/`,
    profiles: [],
    staticMp4: false,
    targetSegmentSeconds: 0.4,
  };
  return (await rig.pipeline.process(work, new KeptRun())).media;
}

/** Adds program date-times as in a recording; the first picture is at noon. */
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

/**
 * The parent as a session whose broadcaster was gone for five seconds: the timeline is continuous, the time of day is not. The second part comes
 * from another encoder and has its own span.
 */
async function acrossReconnect(): Promise<MediaIndex> {
  const { keyPrefix, renditions } = await process("again", { bf: "0" });
  const joined = parent.renditions.map(async (rendition) => {
    const [later, last] = [
      renditions.find((each) => each.rendition === rendition.rendition),
      rendition.segments.at(-1),
    ];
    const endTicks = last ? last.startTicks + last.durationTicks : 0;
    const endMs = (last?.programDateTimeMs ?? 0) + ((last?.durationTicks ?? 0) * 1000) / rendition.track.timescale;
    const firstTicks = later?.segments[0]?.startTicks ?? 0;
    const segments = (later?.segments ?? []).map(async (segment) => {
      const { msn, span, offset, length, init } = segment;
      const [from, to] = [keyPrefix, parent.keyPrefix].map((prefix) => `${prefix}${rendition.rendition}/`);
      const editor = new FragmentEditor(() => ({
        ...{ sequence: msn, earlierTicks: firstTicks - endTicks, prefix: new Uint8Array() },
      }));
      const bytes = await buffer(await rig.store.read(`${from}${span}`, { start: offset, end: offset + length - 1 }));
      await rig.store.put(`${to}2-${msn}.m4s`, Buffer.concat(editor.push(bytes)));
      await rig.store.put(`${to}${init}`, await buffer(await rig.store.read(`${from}${init}`)));
      const startTicks = segment.startTicks - firstTicks + endTicks;
      const awayMs = 5_000 + ((segment.startTicks - firstTicks) * 1000) / rendition.track.timescale;
      return {
        ...{ ...segment, msn: msn + 100, epoch: 2, startTicks, span: `2-${msn}.m4s`, offset: 0 },
        ...{ programDateTimeMs: Math.round(endMs + awayMs), discontinuity: segment === later?.segments[0] },
      };
    });
    return { ...rendition, segments: [...rendition.segments, ...(await Promise.all(segments))] };
  });
  return { ...parent, renditions: await Promise.all(joined) };
}

async function clip(fromSeconds: number, toSeconds: number, of = parent) {
  const { store, folder } = rig;
  const pipeline = new ClipPipeline({ clock: systemClock, store, children, folder, preset: "ultrafast" });
  const work = {
    ...{ assetId: "clip", projectId: "project-1", outPrefix: OUT, parent: of },
    ...{ fromMs: NOON + fromSeconds * 1000, toMs: NOON + toSeconds * 1000 },
  };
  return pipeline.make(work, new KeptRun());
}

/** Decodes as an HLS player does: with a new decoder for each decoder configuration. */
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

/** As a reader shows it that keeps the first init segment of a playlist: FFmpeg, GStreamer, VLC. */
async function picturesByFirstInit({ keyPrefix, renditions: [video] }: MediaIndex) {
  const pieces: Buffer[] = [];
  for (const { init, span, offset, length } of video?.segments ?? []) {
    if (pieces.length === 0) pieces.push(await buffer(await rig.store.read(`${keyPrefix}source/${init}`)));
    const range = { start: offset, end: offset + length - 1 };
    pieces.push(await buffer(await rig.store.read(`${keyPrefix}source/${span}`, range)));
  }
  return decodePictures(Buffer.concat(pieces));
}

async function decodeTimesOf({ keyPrefix, renditions: [video] }: MediaIndex): Promise<number[]> {
  const times: number[] = [];
  for (const { span, offset, length } of video?.segments ?? []) {
    const range = { start: offset, end: offset + length - 1 };
    const bytes = await buffer(await rig.store.read(`${keyPrefix}source/${span}`, range));
    times.push(...readSamples(bytes).map(({ decodeTime }) => decodeTime));
  }
  return times;
}

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

test.each([
  ["in the middle of segments", 0.3, 1.9, upTo(8, 48)],
  ["inside one segment", 0.92, 1.08, upTo(23, 27)],
  ["along the edges of segments", 0.4, 1.2, upTo(10, 30)],
  ["to the end and beyond", 1.7, 9, upTo(43, 50)],
])("a clip %s starts and ends with the right picture", async (_situation, from, to, numbers) => {
  const { spec, media } = await clip(from, to);
  const pictures = await picturesOf(media);
  expect(pictures.map(({ number }) => number)).toEqual(numbers);
  expect((await picturesByFirstInit(media)).map(({ number }) => number)).toEqual(numbers);
  // Like all pictures of the parent, it is decoded two pictures before it is shown.
  expect(pictures[0]?.seconds).toBeLessThan(0.12);
  const steps = pictures.slice(1).map(({ seconds }, n) => Math.round((seconds - (pictures[n]?.seconds ?? 0)) * 1000));
  expect(new Set(steps)).toEqual(new Set([40]));
  const times = await decodeTimesOf(media);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect([times.length, times[0] ?? -1]).toEqual([
    numbers.length,
    expect.toSatisfy((time) => time >= 0 && time < 9_000),
  ]);
  const whole = await decodePictures(await rig.mp4(media, "source"));
  expect(whole.map(({ number }) => number)).toEqual(numbers);
  expect(spec).toMatchObject({ tracks: [{ codec: "h264" }, { codec: "aac" }] });
  expect(spec.duration).toBeCloseTo(Math.min(to, 2) - from, 3);
});

test("a clip across a reconnect starts and ends with the right picture, without the time away", async () => {
  const { spec, media } = await clip(1.3, 7.7, await acrossReconnect());
  const pictures = await picturesOf(media);
  expect(pictures.map(({ number }) => number)).toEqual([...upTo(33, 50), ...upTo(0, 18)]);
  expect((await picturesByFirstInit(media)).map(({ number }) => number)).toEqual(pictures.map(({ number }) => number));
  const steps = pictures.slice(1).map(({ seconds }, n) => Math.round((seconds - (pictures[n]?.seconds ?? 0)) * 1000));
  expect(new Set(steps)).toEqual(new Set([40]));
  expect(spec.duration).toBeCloseTo(1.4, 1);
  const segments = media.renditions[0]?.segments ?? [];
  const jumps = segments.slice(1).map((segment, nth) => {
    const before = segments[nth];
    const lasted = ((before?.durationTicks ?? 0) * 1000) / (media.renditions[0]?.track.timescale ?? 1);
    return Math.round((segment.programDateTimeMs - (before?.programDateTimeMs ?? 0) - lasted) / 100) * 100;
  });
  expect(jumps.filter((ms) => ms !== 0)).toEqual([5_000]);
});

test("the audio of a clip is as long as its video, and its middle has the parent's bytes", async () => {
  const [video, audio] = (await clip(0.5, 1.5)).media.renditions;
  const seconds = (rendition: typeof video) =>
    (rendition?.segments.reduce((sum, { durationTicks }) => sum + durationTicks, 0) ?? 0) /
    (rendition?.track.timescale ?? 1);
  expect(seconds(video)).toBeCloseTo(1, 1);
  expect(seconds(audio)).toBeCloseTo(1, 1);
  // Times are continuous, so there is no discontinuity, although the edges have their own decoder configuration.
  expect(video?.segments.map(({ msn, discontinuity }) => ({ msn, discontinuity }))).toEqual(
    [1, 2, 3].map((msn) => ({ msn, discontinuity: false })),
  );
  const inits = video?.segments.map(({ init }) => init);
  expect(inits?.[1]).toBe(parent.renditions[0]?.segments[0]?.init);
});

test("a clip of an unrecorded time fails with a message", async () => {
  await expect(clip(-10, -5)).rejects.toThrow(/^There is no media between the start and the end of the clip/);
});
