import { expect, test } from "vitest";
import { ManualClock } from "../../../platform/clock.ts";
import { KeyGuesses } from "./key-guesses.ts";

test("an address with 20 wrong keys is locked for the rest of the minute, others are not", () => {
  const clock = new ManualClock();
  const guesses = new KeyGuesses(clock);
  for (let i = 0; i < 19; i++) guesses.wrong("a");
  expect(guesses.isTooMany("a")).toBe(false);
  guesses.wrong("a");
  expect(guesses.isTooMany("a")).toBe(true);
  expect(guesses.isTooMany("b")).toBe(false);
  clock.advance(60_000);
  expect(guesses.isTooMany("a")).toBe(false);
});
