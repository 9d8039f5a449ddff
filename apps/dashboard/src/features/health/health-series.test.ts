import type { StreamEvent } from "@weir/contract";
import { expect, test } from "vitest";
import { seriesOf } from "./health-series.ts";

const measured = (timestamp: number, stats: Partial<Record<"ingestRate" | "frameRate", number>>) =>
  ({ type: "media_server_metrics", timestamp, stats }) as unknown as StreamEvent;
const went = (timestamp: number, active: boolean) =>
  ({ type: "stream_state", timestamp, state: { active } }) as unknown as StreamEvent;
const made = (timestamp: number, latencyMs: number, success = true) =>
  ({ type: "transcode", timestamp, success, latencyMs, segment: { duration: 2 } }) as unknown as StreamEvent;

test("each measure is a line of its own, without those that were not taken", () => {
  const events = [
    measured(1000, { ingestRate: 5, frameRate: 25 }),
    measured(11_000, { ingestRate: 6 }),
    made(12_000, 500),
  ];
  const { ingestRate, frameRate, keyframeIntervalMs, ratio } = seriesOf(events, 0);
  expect([ingestRate.times, ingestRate.values]).toEqual([
    [1000, 11_000],
    [5, 6],
  ]);
  expect(frameRate.values).toEqual([25]);
  expect(keyframeIntervalMs.values).toEqual([]);
  expect([ratio.times, ratio.values]).toEqual([[12_000], [4]]);
});

test("a line breaks where nothing was measured", () => {
  const { ingestRate } = seriesOf([measured(0, { ingestRate: 5 }), measured(60_000, { ingestRate: 6 })], 0);
  expect([ingestRate.times, ingestRate.values]).toEqual([
    [0, 1, 60_000],
    [5, null, 6],
  ]);
});

test("nothing received before the first keyframe is no rate, nothing received later is one", () => {
  const events = [went(0, true), ...[0, 9, 0].map((ingestRate, i) => measured(i * 10, { ingestRate }))];
  expect(seriesOf(events, 0).ingestRate.values).toEqual([9, 0]);
});

test("what is too old, and segments that were not made, are left out", () => {
  expect(seriesOf([made(10, 500), made(20, 1000, false), made(30, 1000)], 15).ratio.values).toEqual([2]);
});
