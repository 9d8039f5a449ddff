import { expect, test } from "vitest";
import { nextTranscodingStatus, type TranscodingInput, type TranscodingStatus } from "./transcoding-status.ts";

const off: TranscodingStatus = { state: "off" };
const starting: TranscodingStatus = { state: "starting" };
const running: TranscodingStatus = { state: "running" };
const sourceOnly: TranscodingStatus = { state: "source-only", reason: "full", cause: "machine-full" };
const gaveUp = { type: "gave-up", reason: "4:4:4", cause: "unsupported-source" } as const;
const unsupported: TranscodingStatus = { state: "source-only", reason: "4:4:4", cause: "unsupported-source" };
const allPaused = { type: "all-paused", reason: "slow" } as const;
const paused: TranscodingStatus = { state: "source-only", reason: "slow", cause: "too-slow" };

test.each<[TranscodingStatus, TranscodingInput, TranscodingStatus]>([
  [starting, allPaused, paused],
  [running, allPaused, paused],
  [paused, allPaused, paused],
  [paused, { type: "segment-done" }, running],
  [paused, { type: "child-died" }, paused],
  [paused, gaveUp, unsupported],
  [paused, { type: "session-ended" }, off],
  [off, { type: "admitted" }, starting],
  [off, { type: "refused", reason: "full" }, sourceOnly],
  [sourceOnly, { type: "admitted" }, starting],
  [sourceOnly, { type: "refused", reason: "full" }, sourceOnly],
  [starting, { type: "segment-done" }, running],
  [running, { type: "segment-done" }, running],
  [starting, { type: "child-died" }, starting],
  [running, { type: "child-died" }, starting],
  [starting, gaveUp, unsupported],
  [running, gaveUp, unsupported],
  [off, { type: "session-ended" }, off],
  [starting, { type: "session-ended" }, off],
  [running, { type: "session-ended" }, off],
  [sourceOnly, { type: "session-ended" }, off],
])("%o with %o is %o", (from, input, to) => {
  expect(nextTranscodingStatus(from, input)).toEqual(to);
});

test.each<[TranscodingStatus, TranscodingInput]>([
  [off, { type: "child-died" }],
  [off, { type: "segment-done" }],
  [running, { type: "admitted" }],
  [sourceOnly, gaveUp],
  [sourceOnly, allPaused],
  [sourceOnly, { type: "segment-done" }],
])("%o with %o is impossible, and the error names both", (from, input) => {
  expect(() => nextTranscodingStatus(from, input)).toThrow(new RegExp(`${input.type}.*${from.state}`));
});
