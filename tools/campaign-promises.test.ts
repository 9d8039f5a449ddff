import { expect, test } from "vitest";
import { LIVE_WITHIN_MS } from "../apps/server/test/campaign/live-within.ts";
import { readSource } from "./source-files.ts";

test("the campaign allows a stream as long as the guarantees say, for each protocol", () => {
  const { rtmp, srt, whip, pull } = LIVE_WITHIN_MS;
  const sentence = `within ${rtmp / 1_000} s over RTMP, ${srt / 1_000} s over SRT, ${whip / 1_000} s over WebRTC, and ${pull / 1_000} s if Weir pulls them`;
  expect(readSource("docs/4-operate/guarantees.md")).toContain(sentence);
});
