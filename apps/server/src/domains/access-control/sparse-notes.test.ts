import { expect, test } from "vitest";
import { ManualClock } from "../../platform/clock.ts";
import { SparseNotes } from "./sparse-notes.ts";

test("a name is due again after its interval, and thousands of other names change nothing about it", () => {
  const clock = new ManualClock();
  const notes = new SparseNotes(clock, 1_000);
  for (let name = 0; name < 10_000; name++) notes.isDue(`${name}`);
  expect(notes.isDue("one more")).toBe(true);
  expect(notes.isDue("9999")).toBe(false);
  clock.advance(1_000);
  expect(notes.isDue("9999")).toBe(true);
});
