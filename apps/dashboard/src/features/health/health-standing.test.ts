import type { OpenIssue, Stream, StreamHealth } from "@weir/contract";
import { expect, test } from "vitest";
import { standingOf } from "./health-standing.ts";

const issue = (code: string, isHarmful = true): OpenIssue => ({
  code,
  sentence: `It is ${code}.`,
  evidence: "",
  remedy: "",
  isHarmful,
  since: 0,
});

function streamThat(is: {
  state?: Stream["status"]["state"];
  issues?: OpenIssue[];
  profiles?: number;
  targets?: number;
}): Stream {
  const { state = "live", issues = [], profiles = 1, targets = 0 } = is;
  return {
    isActive: state !== "idle",
    profiles: Array.from({ length: profiles }, () => ({ name: "360p" })),
    multistream: { targets: Array.from({ length: targets }, () => ({ id: "t" })) },
    status: { state, since: 0, issues },
  } as unknown as Stream;
}

/** A record with these readings of Transcoding, TranscodeRealTime and Multistreaming. */
function record(...readings: readonly (boolean | null)[]): StreamHealth {
  const types = ["Transcoding", "TranscodeRealTime", "Multistreaming"];
  return {
    healthy: { status: !readings.includes(false) },
    conditions: types.map((type, i) => ({ type, status: readings[i] ?? null })),
  } as unknown as StreamHealth;
}

test("a stream whose every check is good is healthy, and what is not configured is blank", () => {
  const { status, reason, checks } = standingOf(streamThat({}), record(true, true));
  expect([status, reason]).toEqual(["healthy", null]);
  expect(checks.map(({ area, state }) => `${area} ${state}`)).toEqual([
    "source healthy",
    "transcoding healthy",
    "realTime healthy",
    "multistreaming blank",
  ]);
});

test("a stream without a ladder and targets has blank checks, and is healthy", () => {
  const { status, checks } = standingOf(streamThat({ profiles: 0 }), record());
  expect(status).toBe("healthy");
  expect(checks.map(({ state }) => state)).toEqual(["healthy", "blank", "blank", "blank"]);
});

test.each([
  ["transcoding", record(false, true), "The newest segment has no rendition yet."],
  ["realTime", record(true, false), "The newest segment was transcoded late."],
  ["multistreaming", record(true, true, false), "Connecting to a target."],
])("a bad reading of %s without an issue waits for the verdict that every list shows too", (area, health, sentence) => {
  const { status, checks } = standingOf(streamThat({ targets: 1 }), health);
  expect([status, checks.find((check) => check.area === area)]).toMatchObject([
    "healthy",
    { state: "waiting", sentence },
  ]);
});

test("one fault of the ladder has one sentence, in the header and in both of its checks, with a record and without", () => {
  const stream = streamThat({ issues: [issue("transcoder-behind"), issue("audio-missing", false)] });
  const standing = standingOf(stream, record(false, false));
  expect([standing.reason, standingOf(stream, undefined).reason]).toEqual(Array(2).fill("It is transcoder-behind."));
  expect(standing.checks.filter(({ state }) => state === "unhealthy")).toMatchObject([
    { area: "transcoding", sentence: "It is transcoder-behind." },
    { area: "realTime", sentence: "It is transcoder-behind." },
  ]);
});

test("the reason is the issue, where one is open about the check", () => {
  const stream = streamThat({ issues: [issue("audio-missing", false), issue("unsupported-source")] });
  expect(standingOf(stream, record(false, true)).reason).toBe("It is unsupported-source.");
});

test("a check is not good while an issue is open about it, whatever was read last", () => {
  const { status, reason, checks } = standingOf(
    streamThat({ issues: [issue("transcoder-behind")] }),
    record(true, true),
  );
  expect([status, reason]).toEqual(["unhealthy", "It is transcoder-behind."]);
  expect(checks.find(({ area }) => area === "realTime")?.state).toBe("unhealthy");
});

test("what is wrong with the source makes it unhealthy; what may be meant does not", () => {
  const late = streamThat({ issues: [issue("keyframe-interval-too-long")] });
  expect(standingOf(late, record(true, true))).toMatchObject({
    status: "unhealthy",
    reason: "It is keyframe-interval-too-long.",
  });
  expect(standingOf(streamThat({ issues: [issue("audio-missing", false)] }), record(true, true)).status).toBe(
    "healthy",
  );
});

test("a stream that waits for its broadcaster is unhealthy, without a record as well", () => {
  const standing = standingOf(streamThat({ state: "reconnecting" }), undefined);
  expect(standing).toMatchObject({ status: "unhealthy", reason: "No media is arriving from the broadcaster." });
});

test("a stream of which nothing was read yet is being checked, and an idle one is idle whatever its record says", () => {
  const unread = { healthy: { status: null }, conditions: [] } as unknown as StreamHealth;
  expect(standingOf(streamThat({}), unread).status).toBe("unknown");
  expect(standingOf(streamThat({ state: "idle" }), record(false, false))).toMatchObject({
    status: "idle",
    reason: null,
  });
});

test.each(["target-not-connected", "target-too-slow"])("%s is no fault of the source", (code) => {
  const { status, checks } = standingOf(streamThat({ targets: 1, issues: [issue(code)] }), undefined);
  const stateOf = (area: string) => checks.find((check) => check.area === area)?.state;
  expect([status, stateOf("source"), stateOf("multistreaming")]).toEqual(["unhealthy", "healthy", "unhealthy"]);
});
