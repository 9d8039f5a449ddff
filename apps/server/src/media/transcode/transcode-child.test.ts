import { describeAvc, isIdrAccessUnit } from "@weir/formats/codecs";
import { AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV444P10LE } from "node-av/constants";
import { afterEach, expect, test } from "vitest";
import {
  type ChildRig,
  makeSource,
  type RungPacket,
  rung,
  type Source,
  startChild,
  timesOf,
} from "./transcode-child-rig.ts";
import type { ToChild, TranscodeRung, TranscodeSource } from "./transcode-protocol.ts";

const RUNGS = [rung(0, 160, 90), rung(1, 240, 136)];

let child: ChildRig;
afterEach(() => child.close());

/** A child that is ready to transcode `video`. */
async function started(video: TranscodeSource, rungs: readonly TranscodeRung[] = RUNGS): Promise<ChildRig> {
  child = startChild();
  child.send({ type: "start", start: { video, rungs, preset: "superfast", encoder: "libx264" } });
  await child.next("ready");
  return child;
}

/** The source's packets, with a cut before each packet whose PTS is one of `cuts`; segments count from 1. */
function withCuts({ packets }: Source, cuts: readonly number[]): ToChild[] {
  return packets.flatMap((packet): ToChild[] => {
    const at = cuts.indexOf(packet.pts);
    return at < 0 ? [packet] : [{ type: "cut", msn: at + 1, ticks: packet.pts }, packet];
  });
}

const idrTimes = ({ packets }: Source): number[] =>
  packets.filter(({ isIndependent }) => isIndependent).map(({ pts }) => pts);

const ptsOf = (packets: readonly { readonly pts: number }[]): number[] =>
  packets.map(({ pts }) => pts).sort((a, b) => a - b);

const of = (packets: readonly RungPacket[], index: number): RungPacket[] =>
  packets.filter((packet) => packet.rung === index);

const segmentStarts = (packets: readonly RungPacket[]): { msn: number; pts: number }[] =>
  packets.filter(({ isFirstOfSegment }) => isFirstOfSegment).map(({ msn, pts }) => ({ msn, pts }));

test.each([
  ["H.264", {}],
  ["H.264 at 29.97 frames a second", { times: timesOf(150, 30_000 / 1001) }],
  ["H.264 with B-frames", { bFrames: 2 }],
  [
    "H.264 with a variable frame rate",
    { times: timesOf(150, 30).filter((_, i) => i % 60 === 0 || (i * 7) % 5 > 1), gopFrames: 30 },
  ],
  [
    "H.264 of odd size, upright, 4:4:4",
    { width: 181, height: 321, pixelFormat: { name: "yuv444p", format: AV_PIX_FMT_YUV444P } },
  ],
  ["H.264 with 120 frames a second", { times: timesOf(300, 120) }],
  ["H.264 with one frame a second", { times: timesOf(6, 1), gopFrames: 2 }],
  ["H.264 with 10 bits", { pixelFormat: { name: "yuv420p10le", format: AV_PIX_FMT_YUV420P10LE } }],
  ["HEVC", { codec: "hevc" }],
  ["AV1", { codec: "av1" }],
] as const)("%s: every rung has the source's times and begins each segment with an IDR", async (_, options) => {
  const source = await makeSource({ times: timesOf(150, 30), ...options });
  const cuts = idrTimes(source);
  expect(cuts.length).toBeGreaterThan(2);
  await started(source.video);
  child.send(...withCuts(source, cuts));
  const packets = await child.flush(1);
  for (const { index } of RUNGS) {
    const made = of(packets, index);
    expect(made.map(({ pts }) => pts)).toEqual(ptsOf(source.packets));
    expect(made.every(({ dts, pts }) => dts === pts)).toBe(true);
    expect(segmentStarts(made)).toEqual(cuts.map((pts, i) => ({ msn: i + 1, pts })));
    for (const { isIndependent, isFirstOfSegment, data } of made) {
      expect(isIndependent).toBe(isFirstOfSegment);
      expect(isIdrAccessUnit("avc", data)).toBe(isIndependent);
    }
  }
  expect(child.said.filter(({ type }) => type === "error")).toEqual([]);
});

test("a rung with a keyframe interval has IDR pictures at it, and one of `intra` has no others", async () => {
  const source = await makeSource({ times: timesOf(120, 30), gopFrames: 60 });
  await started(source.video, [
    rung(0, 160, 90, { keyframeSeconds: 0.5 }),
    rung(1, 128, 72, { keyframeSeconds: 0 }),
    rung(2, 96, 54, { frameRate: { num: 15, den: 1 }, keyframeSeconds: 1 }),
  ]);
  child.send(...withCuts(source, idrTimes(source)));
  const packets = await child.flush(1);
  const keyframes = (index: number) => of(packets, index).filter(({ isIndependent }) => isIndependent);
  const everyFrames = (frames: number) => timesOf(120, 30).filter((_, i) => i % frames === 0);
  expect(keyframes(0).map(({ pts }) => pts)).toEqual(everyFrames(15));
  expect(keyframes(0).every(({ data }) => isIdrAccessUnit("avc", data))).toBe(true);
  expect(keyframes(1).length).toBe(120);
  expect(keyframes(2).map(({ pts }) => pts)).toEqual(everyFrames(30));
});

test("a cut between keyframes, and one between frames, fall on the first frame at or after", async () => {
  const source = await makeSource({ times: timesOf(60, 30), bFrames: 2 });
  await started(source.video);
  const [first, ...rest] = source.packets;
  if (!first) throw new Error("no packets");
  child.send(
    { type: "cut", msn: 7, ticks: first.pts },
    first,
    { type: "cut", msn: 8, ticks: 20 * 3000 },
    { type: "cut", msn: 9, ticks: 40 * 3000 - 1000 },
    ...rest,
  );
  const packets = await child.flush(1);
  for (const { index } of RUNGS) {
    expect(segmentStarts(of(packets, index))).toEqual([
      { msn: 7, pts: 0 },
      { msn: 8, pts: 20 * 3000 },
      { msn: 9, pts: 40 * 3000 },
    ]);
    expect(of(packets, index).map(({ msn }) => msn)).toEqual(
      Array.from({ length: 60 }, (_, i) => (i < 20 ? 7 : i < 40 ? 8 : 9)),
    );
  }
});

test("after a restart within a segment the first frame that is encoded is an IDR of that segment, and not its first", async () => {
  const source = await makeSource({ times: timesOf(120, 30), bFrames: 2 });
  await started(source.video);
  child.send({ type: "skip-until", ticks: 25 * 3000 }, ...withCuts(source, idrTimes(source)));
  const packets = of(await child.flush(1), 0);
  expect(packets.map(({ pts }) => pts)).toEqual(timesOf(120, 30).slice(25));
  expect(packets[0]).toMatchObject({ msn: 1, isIndependent: true, isFirstOfSegment: false });
  expect(segmentStarts(packets)).toEqual([{ msn: 2, pts: 60 * 3000 }]);
});

test("a flush gives the frames that the decoder held back, and it goes on with an IDR", async () => {
  const source = await makeSource({ times: timesOf(120, 30), bFrames: 2, gopFrames: 30 });
  const messages = withCuts(source, [0]);
  const half = messages.findIndex((message) => message.type === "packet" && message.pts === 60 * 3000);
  await started(source.video);
  child.send(...messages.slice(0, half));
  const before = of(await child.flush(1), 1);
  expect(before.map(({ pts }) => pts)).toEqual(timesOf(60, 30));
  child.send(...messages.slice(half));
  const after = of(await child.flush(2), 1).slice(before.length);
  expect(after.map(({ pts }) => pts)).toEqual(timesOf(120, 30).slice(60));
  expect(after.map(({ isIndependent }) => isIndependent).indexOf(true)).toBe(0);
  expect(after.filter(({ isIndependent }) => isIndependent).length).toBe(1);
});

test.each([
  ["in one burst", {}, false],
  ["in a decoder that holds pictures back", { bFrames: 2 }, false],
  ["damaged", {}, true],
])("the last packet before a rest is reported as worked off: a GOP %s", async (_, options, isDamaged) => {
  const source = await makeSource({ times: timesOf(31, 30), gopFrames: 30, ...options });
  await started(source.video);
  const [cut, ...packets] = withCuts(source, [0]);
  if (!cut) throw new Error("no packets");
  const noise = Buffer.from("no video at all, but bytes that came with a packet");
  child.send(cut, ...(packets.map((packet) => (isDamaged ? { ...packet, data: noise } : packet)) as ToChild[]));
  for (;;) {
    const { packets, busyMs } = await child.next("progress");
    expect(busyMs).toBeGreaterThan(0);
    if (packets === source.packets.length) break;
  }
});

test("damaged packets are told of once, and the rungs go on at the next IDR", async () => {
  const source = await makeSource({ times: timesOf(180, 30) });
  await started(source.video);
  const messages = withCuts(source, idrTimes(source)).map((message): ToChild => {
    const isDamaged = message.type === "packet" && message.pts >= 20 * 3000 && message.pts < 30 * 3000;
    return isDamaged
      ? { ...message, data: Buffer.from("no video at all, but bytes that came with a packet") }
      : message;
  });
  child.send(...messages);
  const packets = of(await child.flush(1), 0);
  expect(packets.map(({ pts }) => pts)).toEqual(timesOf(180, 30).filter((_, i) => i < 20 || i >= 60));
  const errors = child.said.filter((message) => message.type === "error");
  expect(errors).toEqual([
    { type: "error", code: "decode", isFatal: false, message: expect.stringMatching(/at 0\.667 s is damaged/) },
  ]);
});

test("noise in place of a source ends with a sentence, not with a crash", async () => {
  const { video } = await makeSource({ times: timesOf(2, 30) });
  await started(video);
  child.send({ type: "cut", msn: 1, ticks: 0 });
  for (let i = 0; i < 100; i++) {
    const data = Buffer.from(Array.from({ length: 400 }, (_, at) => (at * 31 + i * 17 + ((at * at) >> 3)) & 255));
    child.send({ type: "packet", isIndependent: true, dts: i * 3000, pts: i * 3000, data });
  }
  await expect(child.flush(1)).rejects.toThrow(/None of the source's pictures can be decoded/);
  expect(await child.ended).toBe(1);
});

test("4:4:4 with 10 bits is refused with a sentence", async () => {
  const pixelFormat = { name: "yuv444p10le", format: AV_PIX_FMT_YUV444P10LE };
  const source = await makeSource({ times: timesOf(10, 30), pixelFormat });
  await started(source.video);
  child.send(...withCuts(source, [0]));
  await expect(child.flush(1)).rejects.toThrow(/yuv444p10le.*set the encoder to 4:2:0/);
  expect(child.said.at(-1)).toMatchObject({ type: "error", code: "unsupported-pixel-format", isFatal: true });
});

test("an impossible size is refused with a sentence", async () => {
  const { video } = await makeSource({ times: timesOf(2, 30) });
  await expect(started(video, [rung(0, 161, 90)])).rejects.toThrow(/161x90.*sides are even/);
  expect(child.said.at(-1)).toMatchObject({ type: "error", code: "unsupported-size", isFatal: true });
});

test("rungs go and come back at a cut, and the others do not notice", async () => {
  const source = await makeSource({ times: timesOf(120, 30), gopFrames: 30, bFrames: 2 });
  await started(source.video);
  const [small, large] = RUNGS as [TranscodeRung, TranscodeRung];
  const rungsAt = new Map([
    [2, [small]],
    [4, [small, large]],
  ]);
  child.send(
    ...withCuts(source, idrTimes(source)).flatMap((message): ToChild[] => {
      const rungs = message.type === "cut" && rungsAt.get(message.msn);
      return rungs ? [{ type: "rungs", rungs }, message] : [message];
    }),
  );
  const packets = await child.flush(1);
  expect(of(packets, small.index).map(({ pts }) => pts)).toEqual(timesOf(120, 30));
  const made = of(packets, large.index);
  expect(made.map(({ pts }) => pts)).toEqual(timesOf(120, 30).filter((_, i) => i < 30 || i >= 90));
  expect(segmentStarts(made).map(({ msn }) => msn)).toEqual([1, 4]);
  expect(made.filter(({ isIndependent }) => isIndependent).map(({ msn }) => msn)).toEqual([1, 4]);
  const told = child.said.filter((message) => message.type === "dropped" || message.type === "ready");
  expect(told.map(({ type, rungs }) => `${type} ${rungs.length}`).sort()).toEqual([
    "dropped 0",
    "dropped 1",
    "ready 1",
    "ready 2",
  ]);
  const dropped = child.said.findIndex((message) => message.type === "dropped");
  const last = child.said.findLastIndex(
    (message) => message.type === "packet" && message.rung === large.index && message.msn === 1,
  );
  expect(dropped).toBeGreaterThan(last);
});

test("a rung with a frame rate of its own has that rate, and the source's segments", async () => {
  const source = await makeSource({ times: timesOf(240, 60), gopFrames: 120 });
  await started(source.video, [rung(0, 240, 136), rung(1, 160, 90, { frameRate: { num: 15, den: 1 } })]);
  child.send(...withCuts(source, idrTimes(source)));
  const packets = await child.flush(1);
  expect(of(packets, 0).length).toBe(240);
  expect(of(packets, 1).map(({ pts }) => pts)).toEqual(timesOf(60, 15));
  expect(segmentStarts(of(packets, 1))).toEqual(segmentStarts(of(packets, 0)));
});

test.each([15, 30, 60])("the bitrate is kept at %i frames a second", async (rate) => {
  const source = await makeSource({ times: timesOf(rate * 6, rate), gopFrames: rate * 2, width: 640, height: 360 });
  await started(source.video, [rung(0, 480, 270, { bitrateBps: 250_000 })]);
  child.send(...withCuts(source, idrTimes(source)));
  const packets = (await child.flush(1)).filter(({ pts }) => pts >= 2 * 90_000);
  const bitrateBps = (packets.reduce((bytes, { data }) => bytes + data.length, 0) * 8) / 4;
  expect(bitrateBps).toBeGreaterThan(250_000 * 0.6);
  expect(bitrateBps).toBeLessThan(250_000 * 1.25);
});

test("samples that are not square give rungs of the same shape", async () => {
  // 720x576 samples of 16:11 are 20:11 wide; so are 160x90 samples of 45:44.
  const { video } = await makeSource({ times: timesOf(1, 30), width: 720, height: 576, sampleAspect: [16, 11] });
  child = startChild();
  child.send({ type: "start", start: { video, rungs: RUNGS, preset: "superfast", encoder: "libx264" } });
  const { rungs } = await child.next("ready");
  const described = rungs.map(({ index, config }) => ({ index, ...describeAvc(Buffer.from(config, "base64")) }));
  const { width, height, sampleAspect } = described.find(({ index }) => index === 0) ?? described[0] ?? {};
  expect([width, height]).toEqual([160, 90]);
  expect((sampleAspect?.[0] ?? 0) / (sampleAspect?.[1] ?? 1)).toBeCloseTo(45 / 44, 2);
});

test("a child without a start says when it is loaded, waits, and is gone when its pipe closes", async () => {
  child = startChild();
  await child.next("loaded");
  expect(await child.close()).toBe(0);
  expect(child.said).toEqual([{ type: "loaded" }]);
});
