import { expect, test } from "vitest";
import { CatchUpQueue, catchUpTimes, MAX_CATCH_UP_BYTES } from "./catch-up-queue.ts";
import type { MediaFrame } from "./webrtc-protocol.ts";

const frame = (time: number, bytes: number): MediaFrame => ({
  ...{ kind: "video", isIndependent: false, time },
  data: new Uint8Array(bytes),
});

test("the queue accepts frames up to its limit, and again after frames are taken", () => {
  const size = MAX_CATCH_UP_BYTES / 4;
  const queue = new CatchUpQueue([frame(0, size), frame(1, size)]);
  expect([queue.add(frame(2, size)), queue.add(frame(3, size)), queue.add(frame(4, 1))]).toEqual([true, true, false]);
  expect([queue.take()?.time, queue.add(frame(5, size))]).toEqual([0, true]);
  expect([1, 2, 3, 5].map(() => queue.take()?.time)).toEqual([1, 2, 3, 5]);
  expect([queue.isEmpty, queue.take()]).toEqual([true, undefined]);
});

test("pictures that are sent again lie between the newest and the next; others lie close before the newest", () => {
  const pictures = [0, 3000, 6000].map((time) => frame(time, 1));
  expect(catchUpTimes(pictures, Number.NEGATIVE_INFINITY)).toEqual([5820, 5910, 6000]);
  expect(catchUpTimes(pictures, 6000)).toEqual([6090, 6180, 6270]);
  const many = Array.from({ length: 1200 }, (_, n) => frame(n * 1500, 1));
  const times = catchUpTimes(many, 1199 * 1500);
  expect(times[0]).toBeGreaterThan(1199 * 1500);
  expect(times.at(-1)).toBeLessThan(1200 * 1500);
});
