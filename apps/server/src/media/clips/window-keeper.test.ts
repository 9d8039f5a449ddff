import { buffer } from "node:stream/consumers";
import { readSamples } from "@weir/formats/mp4";
import { afterEach, beforeEach, expect, test } from "vitest";
import { windowPrefix } from "../../ports/index.ts";
import { MediaRig, until } from "../testing/media-rig.ts";
import { readWindow } from "./kept-window.ts";

let rig: MediaRig;
let startedAt: number;
beforeEach(async () => {
  rig = await MediaRig.open();
  startedAt = rig.clock.now();
});
afterEach(() => rig[Symbol.asyncDispose]());

const CLIP = { sessionId: "session-1", projectId: "project-1", assetId: "clip-1" };
const PREFIX = windowPrefix(CLIP);
const keep = (fromSeconds: number, toSeconds: number) =>
  rig.plane.keepWindow({ ...CLIP, fromMs: startedAt + fromSeconds * 1000, toMs: startedAt + toSeconds * 1000 });
const found = () => until(() => readWindow(rig.store, PREFIX), "a kept window");

/** The first byte of each picture is its number. */
async function numbersOf(index: Awaited<ReturnType<typeof found>>): Promise<number[]> {
  const video = index.renditions.find(({ rendition }) => rendition === "source");
  const numbers: number[] = [];
  for (const { span, length } of video?.segments ?? []) {
    const bytes = await buffer(await rig.store.read(`${PREFIX}source/${span}`));
    expect([bytes.byteLength, video?.spanBytes.get(span)]).toEqual([length, length]);
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

test("the keeper waits at most 12 s for the end, and ignores a session that is not on this node", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  keep(0, 60);
  rig.plane.keepWindow({ ...CLIP, sessionId: "session-9", assetId: "clip-2", fromMs: 0, toMs: 1 });
  rig.clock.advance(12_001);
  expect((await numbersOf(await found())).slice(0, 120)).toEqual(upTo(0, 120));
  expect(await readWindow(rig.store, windowPrefix({ ...CLIP, assetId: "clip-2" }))).toBeNull();
});
