import { buffer } from "node:stream/consumers";
import { type FragmentSample, readSamples } from "@weir/formats/mp4";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";
import { windowPrefix } from "../../ports/index.ts";
import { MediaRig, until } from "../testing/media-rig.ts";
import { KeptRun } from "../vod/asset-pipeline-rig.ts";
import { VodChildren } from "../vod/vod-children.ts";
import { ClipPipeline } from "./clip-pipeline.ts";
import { readWindow } from "./kept-window.ts";

let rig: MediaRig;
let startedAt: number;
beforeEach(async () => {
  rig = await MediaRig.open();
  startedAt = rig.clock.now();
});
afterEach(() => rig[Symbol.asyncDispose]());

/** Of a frame of the source; a silent one has fewer. */
const SOUND_BYTES = 10;

const CLIP = { sessionId: "session-1", projectId: "project-1", assetId: "clip-1" };
const PREFIX = windowPrefix(CLIP);
const keep = (fromSeconds: number, toSeconds: number) =>
  rig.plane.storeMoments({ ...CLIP, fromMs: startedAt + fromSeconds * 1000, toMs: startedAt + toSeconds * 1000 });
const found = () => until(() => readWindow(rig.store, PREFIX), "a kept window");

/** The first byte of each picture is its number. */
async function numbersOf(index: Awaited<ReturnType<typeof found>>): Promise<number[]> {
  const video = index.renditions.find(({ rendition }) => rendition === "source");
  const numbers: number[] = [];
  for (const { span, offset, length } of video?.segments ?? []) {
    const bytes = await buffer(
      await rig.store.read(`${PREFIX}source/${span}`, { start: offset, end: offset + length - 1 }),
    );
    numbers.push(...readSamples(bytes).map(({ data }) => data[0] ?? -1));
  }
  return numbers;
}

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

test("the segments of a clip are stored, the open one once it is complete", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  keep(2.5, 4.8);
  expect(await readWindow(rig.store, PREFIX)).toBeNull();
  publication.end("clean-stop", "FCUnpublish");
  const index = await found();
  expect(index).toMatchObject({ id: "session-1", projectId: "project-1", keyPrefix: PREFIX });
  expect(index.renditions.map(({ rendition, segments }) => [rendition, segments.length])).toEqual([
    ["source", 2],
    ["audio", 2],
  ]);
  expect(await numbersOf(index)).toEqual(upTo(60, 150));
  const [first] = index.renditions[0]?.segments ?? [];
  expect(first).toMatchObject({ programDateTimeMs: startedAt + 2_000, startTicks: 180_000, durationTicks: 180_000 });
});

test("segments that leave the live window are retained for the clip, then released", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 9 });
  const inUse = () => rig.plane.figures.pages.pagesInUse;
  keep(0, 8.5);
  await rig.send(publication, { seconds: 1 });
  publication.end("clean-stop", "FCUnpublish");
  expect((await numbersOf(await found())).slice(0, 60)).toEqual(upTo(0, 60));
  rig.clock.advance(120_000);
  await until(() => inUse() === 0, "the memory to be given back");
});

test("a clip that is asked for again while it is stored gets the answer to the first request", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  const answers = [keep(2.5, 4.8), keep(2.5, 4.8)];
  publication.end("clean-stop", "FCUnpublish");
  expect(await Promise.all(answers)).toEqual(["stored", "stored"]);
  expect(await rig.store.children(`${PREFIX}indexes/`)).toHaveLength(1);
});

test("a clip of a session that moved to another node has what each of them showed", async () => {
  rig.publishGate.nextStart = { sessionId: CLIP.sessionId };
  await rig.send(rig.publish().publication, { seconds: 4.2 });
  expect(await keep(0, 4)).toBe("stored");
  await rig.restart();
  const target = { targetDuration: 2, neededTargetDuration: 2 };
  const resume = { nextMsn: 20, endTicks: 90_000 * 40, discontinuitySequence: 0, sound: null, ...target };
  rig.publishGate.nextStart = { sessionId: CLIP.sessionId, resume };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 4.2 });
  publication.end("clean-stop", "FCUnpublish");
  expect(await keep(0, 60)).toBe("stored");
  const index = await found();
  const msns = index.renditions.map(({ segments }) => segments.map(({ msn }) => msn));
  expect(msns[0]?.slice(0, 2)).toEqual([1, 2]);
  expect(msns[0]?.at(-1)).toBeGreaterThanOrEqual(21);
  expect(msns[1]).toEqual(msns[0]);
  expect(await numbersOf(index)).toEqual([...upTo(0, 120), ...upTo(0, 126)]);
});

test("a clip across the loss of the sound has silence there, and no gap", async () => {
  rig.publishGate.nextStart = { sessionId: CLIP.sessionId };
  for (const audio of [true, false, true]) await rig.send(rig.publish().publication, { seconds: 4, audio });
  keep(0, 9.9);
  const parent = await found();
  const [first, last] = [1, 4].map((nth) => parent.renditions[0]?.segments[nth]);
  const { folder, store } = rig;
  const settings = { clock: systemClock, store, children: new VodChildren(systemClock), folder, preset: "ultrafast" };
  const from = { fromMs: first?.programDateTimeMs ?? 0, toMs: (last?.programDateTimeMs ?? 0) + 2_000 };
  const work = {
    assetId: "clip-1",
    projectId: CLIP.projectId,
    outPrefix: "v1/project-1/asset/clip-1/out/1/",
    parent,
    ...from,
  };
  const { media } = await new ClipPipeline(settings).make(work, new KeptRun());
  const { renditions, keyPrefix } = media;
  const sound = renditions.find(({ rendition }) => rendition === "audio");
  expect(sound?.segments.map(({ gap, discontinuity }) => gap || discontinuity)).toEqual(Array(4).fill(false));
  expect(new Set(sound?.segments.map(({ init }) => init)).size).toBe(1);
  const frames: FragmentSample[] = [];
  for (const { span, offset, length } of sound?.segments ?? []) {
    const range = { start: offset, end: offset + length - 1 };
    frames.push(...readSamples(await buffer(await store.read(`${keyPrefix}audio/${span}`, range))));
  }
  const steps = frames.slice(1).map(({ time }, index) => time - (frames[index]?.time ?? 0));
  expect(new Set(steps)).toEqual(new Set([1024]));
  const secondsOf = (some: readonly unknown[]) => (some.length * 1024) / 48_000;
  expect(secondsOf(frames)).toBeCloseTo(8, 1);
  expect(secondsOf(frames.filter(({ data }) => data.byteLength < SOUND_BYTES))).toBeCloseTo(4, 1);
});

test("the keeper waits at most 12 s for the end, and ignores a session that is not on this node", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  keep(0, 60);
  const elsewhere = { ...CLIP, sessionId: "session-9", assetId: "clip-2", fromMs: 0, toMs: 1 };
  expect(await rig.plane.storeMoments(elsewhere)).toBe("not-here");
  rig.clock.advance(12_001);
  expect((await numbersOf(await found())).slice(0, 120)).toEqual(upTo(0, 120));
  expect(await readWindow(rig.store, windowPrefix({ ...CLIP, assetId: "clip-2" }))).toBeNull();
});

test.each([
  { status: 503, code: "SlowDown" },
  { status: 403, code: "QuotaExceeded" },
])("a window is kept although the object store is away for some seconds in that moment ($code)", async (refusal) => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  const away = new StoreFailed("write", "v1/some/key", refusal);
  const put = vi.spyOn(rig.store, "put").mockRejectedValue(away);
  const answer = keep(0, 4);
  await rig.send(publication, { seconds: 3 });
  put.mockRestore();
  await rig.send(publication, { seconds: 3 });
  publication.end("clean-stop", "FCUnpublish");
  expect(await answer).toBe("stored");
});

test("a window that is kept is not kept anew: it has gone on", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  const first = keep(0, 3);
  await rig.send(publication, { seconds: 3 });
  expect(await first).toBe("stored");
  const before = await found();
  const put = vi.spyOn(rig.store, "put");
  expect(await keep(0, 3)).toBe("stored");
  expect(put).not.toHaveBeenCalled();
  expect(await found()).toEqual(before);
});
