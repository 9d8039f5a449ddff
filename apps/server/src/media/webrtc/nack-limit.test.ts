import { expect, test } from "vitest";
import { NackLimit } from "./nack-limit.ts";

test("a viewer with heavy packet loss stays below the limit, a flood of requests does not", () => {
  const viewer = new NackLimit();
  for (let second = 0; second < 10; second++)
    for (let report = 0; report < 50; report++) expect(viewer.add(80, second * 1000 + report * 20)).toBe(true);
  expect(viewer.total).toBe(40_000);
  // One message of 1,130 bytes that requests the same packets repeatedly, and many small ones.
  expect(new NackLimit().add(4_760, 0)).toBe(false);
  const attacker = new NackLimit();
  expect([0, 1, 2, 3, 4].map((ms) => attacker.add(1_000, ms))).toEqual([true, true, true, true, false]);
});
