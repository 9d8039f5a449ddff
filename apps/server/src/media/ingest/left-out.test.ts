import { expect, it } from "vitest";
import { leftOutSentence, NOTHING_LEFT_OUT } from "./left-out.ts";

it("what is left out is a sentence, and nothing is none", () => {
  expect(leftOutSentence(NOTHING_LEFT_OUT)).toBeNull();
  expect(leftOutSentence({ video: 0, audio: 2, captions: 1 })).toBe(
    "The source also has 2 further audio tracks and 1 caption track. Weir takes its first video and its first audio alone.",
  );
});
