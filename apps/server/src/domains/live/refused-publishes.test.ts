import { expect, test } from "vitest";
import { RefusedPublishes } from "./refused-publishes.ts";

const attempt = { protocol: "rtmp", remoteAddress: "192.0.2.1", sentence: "No." } as const;

test("a stream's refusals are its own; those with an unknown key are for those who see the whole account", () => {
  let now = 1000;
  const refusals = new RefusedPublishes(() => now);
  refusals.note({ ...attempt, streamId: "one" });
  now = 2000;
  refusals.note({ ...attempt, streamId: null });
  const own = { timestamp: 1000, protocol: "rtmp", address: "192.0.2.1", message: "No.", isKnownKey: true };
  expect(refusals.of("one", false)).toEqual([own]);
  expect(refusals.of("one", true)).toEqual([{ ...own, timestamp: 2000, isKnownKey: false }, own]);
  expect(refusals.of("two", false)).toEqual([]);
  now = 1000 + 15 * 60_000 + 1;
  expect(refusals.of("one", false)).toEqual([]);
});

test("a flood of attempts is bounded", () => {
  const refusals = new RefusedPublishes(() => 0);
  for (let i = 0; i < 1000; i++) refusals.note({ ...attempt, streamId: "one" });
  expect(refusals.of("one", true).length).toBe(100);
});
