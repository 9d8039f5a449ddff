import { describe, expect, it } from "vitest";
import {
  EMPTY_RECORDING_MS,
  judgeRecording,
  nextRecordingStatus,
  RECORDING_WATCHDOG_MS,
  type RecordingInput,
  type RecordingState,
} from "./recording-status.ts";

describe("recording", () => {
  const rows: [RecordingState, RecordingInput, RecordingState][] = [
    ["waiting", "complete", "ready"],
    ["waiting", "lost", "failed"],
    ["ready", "delete", "deleted"],
    ["failed", "delete", "deleted"],
    ["waiting", "delete", "deleted"],
  ];
  it.each(rows)("%s, %s: %s", (state, input, next) => expect(nextRecordingStatus(state, input)).toBe(next));

  const illegal: [RecordingState, RecordingInput][] = [
    ["none", "complete"],
    ["none", "delete"],
    ["ready", "complete"],
    ["ready", "lost"],
    ["failed", "complete"],
    ["deleted", "delete"],
  ];
  it.each(illegal)("%s, %s: no such way, and the error names both", (state, input) => {
    expect(() => nextRecordingStatus(state, input)).toThrow(`recording: no way from "${state}" by "${input}"`);
  });
});

describe("judging the recording of an ended session", () => {
  const none = { sealedSegments: 0, unsealedSegments: 0, lostSegments: 0 };
  const evidence = { ...none, hasFailed: false, isSpoolAwaited: false, waitedMs: 2_000 };
  it.each([
    ["everything sealed", { sealedSegments: 9 }, "complete"],
    ["a span not sealed yet", { sealedSegments: 9, unsealedSegments: 1 }, null],
    ["everything known sealed, and a lost node that may have more", { sealedSegments: 9, isSpoolAwaited: true }, null],
    ["a node lost for long, with segments", { sealedSegments: 9, lostSegments: 2 }, "complete"],
    ["a node lost for long, with all of it", { lostSegments: 2 }, "lost"],
    ["a node lost for long, and a span of another one", { lostSegments: 2, unsealedSegments: 1 }, null],
    ["no media known yet", {}, null],
    ["no media long after the end", { waitedMs: EMPTY_RECORDING_MS }, "lost"],
    ["interrupted, everything that was written sealed", { sealedSegments: 9, hasFailed: true }, "complete"],
    ["interrupted, a span not sealed yet", { sealedSegments: 9, unsealedSegments: 1, hasFailed: true }, null],
    ["interrupted, nothing ever written", { hasFailed: true }, "lost"],
    [
      "the watchdog, something sealed",
      { sealedSegments: 9, unsealedSegments: 1, waitedMs: RECORDING_WATCHDOG_MS },
      "complete",
    ],
    ["the watchdog, nothing sealed", { unsealedSegments: 1, waitedMs: RECORDING_WATCHDOG_MS }, "lost"],
  ])("%s: %o gives %s", (_situation, known, verdict) => {
    expect(judgeRecording({ ...evidence, ...known })).toBe(verdict);
  });
});
