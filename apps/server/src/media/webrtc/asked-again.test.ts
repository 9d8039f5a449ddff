import { expect, test } from "vitest";
import { AskedAgain } from "./asked-again.ts";

test("a viewer on a bad network may ask for packets again, one that only makes the server send may not", () => {
  const viewer = new AskedAgain();
  for (let second = 0; second < 10; second++)
    for (let report = 0; report < 50; report++) expect(viewer.add(80, second * 1000 + report * 20)).toBe(true);
  expect(viewer.total).toBe(40_000);
  // One message of 1,130 bytes that names the same packets over and over, and many small ones.
  expect(new AskedAgain().add(4_760, 0)).toBe(false);
  const attacker = new AskedAgain();
  expect([0, 1, 2, 3, 4].map((ms) => attacker.add(1_000, ms))).toEqual([true, true, true, true, false]);
});
