import { expect, test } from "vitest";
import { CatchUpQueue, MAX_CATCH_UP_BYTES } from "./catch-up-queue.ts";
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
