import { expect, test } from "vitest";
import { ManualClock } from "../../../platform/clock.ts";
import type { PlaybackContent } from "../../../ports/index.ts";
import { PublicAnswers } from "./public-answers.ts";

test("20,000 decisions are cached, and another one evicts only the oldest", () => {
  const answers = new PublicAnswers(new ManualClock());
  const content = {} as PlaybackContent;
  for (let i = 0; i <= 20_000; i++)
    answers.keep(`${i}`, { ok: true, content, pass: null, expiresInMs: 1_000, perOrigin: false, isFull: false });
  expect([0, 1, 10_000, 20_000].map((i) => answers.isKept(`${i}`))).toEqual([false, true, true, true]);
});
