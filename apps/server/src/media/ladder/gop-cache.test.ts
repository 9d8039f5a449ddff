import { expect, test } from "vitest";
import { Payload } from "../packet.ts";
import type { Cut, Sample } from "../timeline/timeline-sink.ts";
import { GopCache, isSample } from "./gop-cache.ts";

const released: number[] = [];

/** A sample whose only other share is given up at once, as the pipeline does. */
function add(cache: GopCache, time: number, isIndependent: boolean, bytes = 1): void {
  const data = new Payload(new Uint8Array(bytes), { release: () => released.push(time) });
  const sample: Sample = { trackId: 0, kind: "video", time, decodeTime: time, duration: 1, isIndependent, data };
  cache.sample(sample);
  data.release();
}

const cutAt = (ticks: number): Cut => ({
  msn: ticks,
  ticks,
  programDateTimeMs: 0,
  discontinuity: false,
  byVideo: true,
});
const told = (cache: GopCache) => cache.entries.map((entry) => (isSample(entry) ? entry.time : `cut ${entry.ticks}`));

test("keeps the pictures since the last IDR with the cut before it, and releases what was before", () => {
  released.length = 0;
  const cache = new GopCache();
  add(cache, 0, false);
  expect(released.splice(0)).toEqual([0]);
  cache.cut(cutAt(1));
  for (const time of [1, 2]) add(cache, time, time === 1);
  cache.cut(cutAt(3));
  add(cache, 3, false);
  expect(told(cache)).toEqual(["cut 1", 1, 2, "cut 3", 3]);
  expect(released).toEqual([]);
  add(cache, 4, true);
  expect(told(cache)).toEqual(["cut 3", 4]);
  expect(released.splice(0)).toEqual([1, 2, 3]);
  cache.clear();
  expect(told(cache)).toEqual([]);
  expect(released).toEqual([4]);
});

test.each([
  ["too many bytes", 3 * 1024 * 1024, 6],
  ["too many samples", 1, 8000],
])("gives up on a group of pictures of %s until the next IDR", (_, bytes, samples) => {
  const cache = new GopCache();
  for (let time = 0; time < samples; time++) add(cache, time, time === 0, bytes);
  expect(told(cache)).toEqual([]);
  add(cache, 9000, true);
  expect(told(cache)).toEqual([9000]);
});
