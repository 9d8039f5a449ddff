import type { StreamEvent } from "@weir/contract";
import { expect, test } from "vitest";
import { linesOf } from "./event-filter.ts";

const base = { timestamp: 1_700_000_000_000, streamId: "s", v: 1 };
const node = { nodeId: "n" };
const segment = { name: "7.m4s", seqNo: 7, duration: 2, byteSize: 1 };
const attempt = (error: string | null) => ({
  orchestrator: { address: "n", transcodeUri: "" },
  latencyMs: 100,
  error,
});
const issue = { sentence: "The sound stopped.", evidence: "No audio for 2 s.", remedy: "Check the mixer." };

const events: StreamEvent[] = [
  { ...base, ...node, type: "stream_state", id: "1", userId: "u", state: { active: true } },
  { ...base, ...node, type: "media_server_metrics", id: "2", stats: metrics(), multistream: [] },
  {
    ...base,
    ...node,
    type: "transcode",
    id: "3",
    segment,
    startTime: 1,
    latencyMs: 400,
    success: true,
    attempts: [attempt(null)],
  },
  {
    ...base,
    ...node,
    type: "transcode",
    id: "4",
    segment,
    startTime: 1,
    latencyMs: 2500,
    success: true,
    attempts: [attempt(null)],
  },
  {
    ...base,
    ...node,
    type: "transcode",
    id: "5",
    segment,
    startTime: 1,
    latencyMs: 9,
    success: false,
    attempts: [attempt("yuv444p")],
  },
  { ...base, ...issue, type: "stream_issue", id: "6", code: "audio-missing", state: "opened" },
  { ...base, ...issue, type: "stream_issue", id: "7", code: "audio-missing", state: "closed" },
  { ...base, ...issue, type: "stream_issue", id: "8", code: "unsupported-source", state: "opened" },
  {
    ...base,
    type: "webhook_event",
    id: "9",
    event: "multistream.error",
    userId: "u",
    payload: { target: { id: "t", name: "Backup" } },
  },
  { ...base, type: "webhook_event", id: "10", event: "recording.ready", userId: "u" },
  { ...base, type: "event_gap", id: "11", dropped: 3 },
  { ...base, type: "of_tomorrow", id: "12" } as unknown as StreamEvent,
  { ...base, ...node, type: "stream_state", id: "13", userId: "u", state: { active: false } },
];

function metrics() {
  return { mediaTimeMs: 10_000, ingestRate: 250_000, frameRate: 25, keyframeIntervalMs: 2000 };
}

test("every event is a line with its level, newest first", () => {
  expect(linesOf(events, "all", "").map(({ level, sentence }) => `${level}: ${sentence}`)).toEqual([
    "info: The stream stopped.",
    "detail: Event of type of_tomorrow.",
    "warning: 3 measurements are missing because the log could not keep up.",
    "info: Recording is ready.",
    "warning: Multistream target failed: Backup.",
    "fatal: The sound stopped. No audio for 2 s. Check the mixer.",
    "info: Resolved: The sound stopped.",
    "warning: The sound stopped. No audio for 2 s. Check the mixer.",
    "warning: Segment 7 was not transcoded. Yuv444p. Viewers got the source quality instead.",
    "warning: Transcoding segment 7 was slower than real time (0.80×).",
    "detail: Transcoded segment 7 at 5.0× real time.",
    "detail: Measured 2.0 Mbit/s, 25 fps, a keyframe every 2.0 s.",
    "info: The stream started.",
  ]);
});

test("measurements are left out of what a person should know", () => {
  expect(linesOf(events, "notable", "").map(({ event }) => event.id)).toEqual([..."13 11 10 9 8 7 6 5 4 1".split(" ")]);
});

test("errors alone are what nobody but a person can end", () => {
  expect(linesOf(events, "fatal", "").map(({ event }) => event.id)).toEqual(["8"]);
});

test("words are looked for in sentence and type, in any case", () => {
  expect(linesOf(events, "all", "BACKUP").map(({ event }) => event.id)).toEqual(["9"]);
  expect(linesOf(events, "all", "stream_state").map(({ event }) => event.id)).toEqual(["13", "1"]);
});

const at = (seconds: number) => ({ timestamp: base.timestamp + seconds * 1000 });
const failed = (seconds: number, error: string): StreamEvent => ({
  ...base,
  ...at(seconds),
  ...node,
  type: "transcode",
  id: `failed ${seconds}`,
  segment,
  startTime: 1,
  latencyMs: 9,
  success: false,
  attempts: [attempt(error)],
});
const issueEvent = (seconds: number, state: "opened" | "closed"): StreamEvent => ({
  ...base,
  ...at(seconds),
  ...issue,
  type: "stream_issue",
  id: `${state} ${seconds}`,
  code: "transcoder-behind",
  state,
});
const summary = (log: readonly StreamEvent[], kind: "notable" | "all" = "notable") =>
  linesOf(log, kind, "").map(({ event, first, count }) => [event.id, first.id, count]);

test("a thousand segments that fail alike are one line, which stays the newest while they fail", () => {
  const log = Array.from({ length: 1000 }, (_, i) => failed(2 * i, "late"));
  expect(summary(log)).toEqual([["failed 1998", "failed 0", 1000]]);
  expect(summary([...log, failed(2000, "other")])).toEqual([
    ["failed 2000", "failed 2000", 1],
    ["failed 1998", "failed 0", 1000],
  ]);
  expect(summary(log, "all")).toHaveLength(1000);
});

test("the same failure after a while, or in another broadcast, is another line", () => {
  expect(summary([failed(0, "late"), failed(121, "late")])).toHaveLength(2);
  const stop = {
    ...base,
    ...at(1),
    ...node,
    type: "stream_state",
    id: "stop",
    userId: "u",
    state: { active: false },
  } as const;
  expect(summary([failed(0, "late"), stop, failed(2, "late")])).toHaveLength(3);
});

test("an issue that comes and goes is one line, which says how often; one that came once has a line for its end", () => {
  const once = [issueEvent(0, "opened"), issueEvent(300, "closed")];
  expect(summary(once).map(([id]) => id)).toEqual(["closed 300", "opened 0"]);
  const again = [...once, issueEvent(310, "opened"), issueEvent(320, "closed"), issueEvent(330, "opened")];
  expect(summary(again)).toEqual([["opened 330", "opened 0", 3]]);
  expect(linesOf([...again, issueEvent(340, "closed")], "notable", "")[0]?.sentence).toMatch(/^Resolved: /);
});

test("a segment that lacks one rendition is a warning, which names it", () => {
  const partly = { ...failed(0, "it was late"), success: true, missing: ["720p"] } as StreamEvent;
  expect(linesOf([partly], "notable", "").map(({ level, sentence }) => [level, sentence])).toEqual([
    ["warning", "Segment 7 has no 720p. It was late."],
  ]);
});
