import { describe, expect, it } from "vitest";
import { AUDIO, type SourceShape, syntheticSource, VIDEO } from "../testing/synthetic-source.ts";
import { SourceMeter, urgentStateOf } from "./source-meter.ts";

interface Arrivals extends SourceShape {
  /** The samples to leave out. */
  readonly without?: (at: number, kind: "video" | "audio") => boolean;
}

/** Bring a source to a meter as its packets arrive, looked at every 50 ms, and on for `longer` ms. */
function play(shape: Arrivals, meter = new SourceMeter(), longer = 0, from = 0): SourceMeter {
  if (shape.video !== false) meter.track(VIDEO);
  if (shape.audio !== false) meter.track(AUDIO);
  let tick = from;
  for (const { at, packet } of syntheticSource(shape)) {
    for (; tick <= from + at; tick += 50) meter.tick(tick, 0);
    if (!shape.without?.(at, packet.kind)) meter.packet(packet, from + at);
  }
  for (; tick <= from + shape.seconds * 1000 + longer; tick += 50) meter.tick(tick, 0);
  return meter;
}

describe("SourceMeter", () => {
  it.each([
    [30, 2],
    [29.97, 2],
    [25, 8],
    [5, 2],
  ])("measures %f frames a second with a keyframe every %f s", (frameRate, gopSeconds) => {
    const { frameRate: measured, keyframeIntervalMs } = play({ frameRate, gopSeconds, seconds: 20 }).measure(20_000);
    expect(measured).toBeCloseTo(frameRate, 1);
    expect(Math.abs((keyframeIntervalMs ?? 0) - gopSeconds * 1000)).toBeLessThan(50);
  });

  it("counts in milliseconds of RTMP as well", () => {
    const { frameRate } = play({ frameRate: 59.94, milliseconds: true, seconds: 15 }).measure(15_000);
    expect(frameRate).toBeCloseTo(59.94, 0);
  });

  it("a keyframe that does not come makes the interval grow", () => {
    const meter = play({ gopSeconds: 30, seconds: 12 });
    expect(meter.measure(12_000).keyframeIntervalMs).toBeGreaterThan(11_800);
  });

  it("a track that is there and brings nothing for two seconds has stopped, and flows again with its next packet", () => {
    const meter = play({ seconds: 10, without: (at, kind) => kind === "audio" && at > 5_000 });
    expect(meter.measure(10_000)).toMatchObject({ video: "flowing", audio: "stopped" });
    play({ seconds: 1, clockAt: 10 }, meter, 0, 10_000);
    expect(meter.measure(11_000)).toMatchObject({ video: "flowing", audio: "flowing" });
  });

  it("a track that was never there is none", () => {
    expect(play({ seconds: 5, audio: false }).measure(5_000)).toMatchObject({
      audio: "none",
      keyframeIntervalMs: 2_000,
    });
    expect(play({ seconds: 5, video: false }).measure(5_000)).toMatchObject({
      video: "none",
      frameRate: null,
      keyframeIntervalMs: null,
    });
  });

  it("seconds that bring less than half of their media are starved, and forgotten after ten", () => {
    const meter = play({ seconds: 20, without: (at) => Math.floor(at / 1000) % 3 === 2 });
    expect(meter.measure(20_000).starvedSeconds).toBe(3);
    play({ seconds: 10, clockAt: 20 }, meter, 50, 20_000);
    expect(meter.measure(30_050).starvedSeconds).toBe(0);
  });

  it("what an encoder leaves out in its first ten seconds, while it starts, is not starved", () => {
    expect(play({ seconds: 10, without: (at) => Math.floor(at / 1000) % 3 === 2 }).measure(10_000).starvedSeconds).toBe(
      0,
    );
  });

  it("a picture every second without sound is slow, not starved", () => {
    expect(play({ frameRate: 1, audio: false, seconds: 20 }).measure(20_000).starvedSeconds).toBe(0);
  });

  it("remembers jumps of the clock for a minute", () => {
    const meter = play({ seconds: 1 });
    for (let now = 1_050; now < 20_000; now += 50) meter.tick(now, now > 10_000 ? 2 : 0);
    expect(meter.measure(20_000).clockJumps).toBe(2);
    for (let now = 20_000; now < 72_000; now += 50) meter.tick(now, 2);
    expect(meter.measure(72_000).clockJumps).toBe(0);
  });

  it("remembers repaired frames for a minute", () => {
    const meter = play({ seconds: 1 });
    for (let now = 1_050; now < 20_000; now += 50) meter.tick(now, 0, Math.floor(now / 5_000) * 3);
    expect(meter.measure(20_000).clockRepairs).toBe(9);
    for (let now = 20_000; now < 82_000; now += 50) meter.tick(now, 0, 9);
    expect(meter.measure(82_000).clockRepairs).toBe(0);
  });

  it("knows nothing of a publisher before", () => {
    const meter = play({ seconds: 10, gopSeconds: 8 });
    meter.restart(0);
    play({ seconds: 3, audio: false, frameRate: 50 }, meter, 0, 10_000);
    expect(meter.measure(13_000)).toMatchObject({ audio: "none", frameRate: 50, keyframeIntervalMs: 2_000 });
  });
});

it("news is what a person would call a change, not every number", () => {
  const meter = play({ seconds: 10 });
  const good = meter.measure(10_000);
  expect(urgentStateOf({ ...good, frameRate: 29, keyframeIntervalMs: 2_040, starvedSeconds: 1 })).toBe(
    urgentStateOf(good),
  );
  const changes = [
    { audio: "stopped" },
    { keyframeIntervalMs: 4_600 },
    { starvedSeconds: 3 },
    { clockJumps: 1 },
    { clockRepairs: 1 },
  ] as const;
  for (const change of changes) expect(urgentStateOf({ ...good, ...change })).not.toBe(urgentStateOf(good));
});
