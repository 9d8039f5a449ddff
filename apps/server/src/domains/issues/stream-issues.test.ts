import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type {
  SegmentTranscoded,
  SourceMeasure,
  SourceMetrics,
  SrtMeasure,
  TargetReport,
  TranscodingReport,
} from "../../ports/index.ts";
import type { IssueCode } from "../open-issue.ts";
import { GOOD_SOURCE } from "../source-measure-rig.ts";
import { metricsRules, segmentRules } from "./issue-rules.ts";
import { issueEvents, NO_ISSUES, nextIssues } from "./stream-issues.ts";

const fact = { streamId: "s", epoch: 1, at: 1_000, sessionId: "e" };

function metrics(change: Partial<SourceMetrics> = {}): SourceMetrics {
  const rates = { mediaTimeMs: 0, ingestRate: 500_000, outgoingRate: 0 };
  return {
    ...fact,
    type: "source-metrics",
    source: GOOD_SOURCE,
    recordingRoom: null,
    ...rates,
    transcoding: null,
    webrtc: { publisher: null, viewers: null, hasBFrames: false },
    srt: null,
    targets: [],
    ...change,
  };
}
const source = (change: Partial<SourceMeasure>) => metrics({ source: { ...GOOD_SOURCE, ...change } });
const disk = (spoolFreeBytes: number, ingestRate = 500_000, storeFreeBytes: number | null = null) =>
  metrics({ recordingRoom: { spoolFreeBytes, storeFreeBytes }, ingestRate });

function ladder(state: TranscodingReport["state"], cause?: TranscodingReport["cause"], lagMs = 0): SourceMetrics {
  const reason = cause ? { cause, reason: `because of ${cause}` } : {};
  const renditions = [{ name: "480p", width: 854, height: 480, state: "running", lagMs } as const];
  return metrics({ transcoding: { state, ...reason, renditions } });
}

function forwarded(state: TargetReport["state"], reason: string | null): SourceMetrics {
  return metrics({
    targets: [{ target: { id: "t", name: "Twitch", profile: "source" }, state, reason, metrics: null }],
  });
}

function watchedByWebrtc(hasBFrames: boolean): SourceMetrics {
  const viewers = { count: 1, lowered: 0, roundTripMs: 20, fractionLost: 0, retransmits: 0 };
  return metrics({ webrtc: { publisher: null, viewers, hasBFrames } });
}

function srtLink(change: Partial<SrtMeasure>): SourceMetrics {
  const link = { roundTripMs: 119.4, fractionLost: 0, retransmits: 0, latePackets: 0, latencyMs: 120 };
  return metrics({ srt: { ...link, ...change } });
}

function segment(missed: SegmentTranscoded["missed"], latencyMs = 300, error: string | null = null): SegmentTranscoded {
  const orchestrator = { address: "node", transcodeUri: "http://node" };
  return {
    ...fact,
    type: "segment-transcoded",
    segment: { name: "7.m4s", seqNo: 7, duration: 2, byteSize: 1_000 },
    startTime: 0,
    latencyMs,
    success: missed === null,
    missing: missed === null ? [] : ["480p"],
    paused: [],
    isSteady: true,
    missed,
    attempts: [{ orchestrator, latencyMs, error: error ?? (missed === null ? null : "no reason") }],
    renditionBytes: 1_000,
  };
}

const codesAfter = (...facts: (SourceMetrics | SegmentTranscoded)[]): IssueCode[] =>
  facts.reduce(nextIssues, NO_ISSUES).open.map(({ code }) => code);

const GIB = 2 ** 30;
const whole = segment(null);

/** The facts that open a code, leave an open one open, and close it. */
const rules: [IssueCode, opens: readonly Fact[], keeps: readonly Fact[], closes: readonly Fact[]][] = [
  [
    "keyframe-interval-too-long",
    [source({ keyframeIntervalMs: 8_300 })],
    [source({ keyframeIntervalMs: 4_400 })],
    [source({ keyframeIntervalMs: 2_400 })],
  ],
  ["no-keyframes", [source({ keyframeIntervalMs: 20_000 })], [source({ keyframeIntervalMs: 40_000 })], [source({})]],
  ["audio-missing", [source({ audio: "stopped" })], [source({ audio: "stopped", video: "stopped" })], [source({})]],
  ["audio-missing", [source({ audio: "none" })], [source({ audio: "none", measuredSeconds: 0 })], [source({})]],
  ["video-missing", [source({ video: "stopped" })], [source({ audio: "stopped", video: "stopped" })], [source({})]],
  ["bitrate-unstable", [source({ starvedSeconds: 3 })], [source({ starvedSeconds: 1 })], [source({})]],
  ["clock-jumps", [source({ clockJumps: 1 })], [source({ clockJumps: 2 })], [source({})]],
  ["tracks-left-out", [source({ leftOut: "One." })], [source({ leftOut: "Two." })], [source({})]],
  ["clock-repaired", [source({ clockRepairs: 12 })], [source({ clockRepairs: 1 })], [source({})]],
  [
    "packets-repaired",
    [srtLink({ fractionLost: 0.2 })],
    [srtLink({ fractionLost: 0.1 })],
    [srtLink({ fractionLost: 0.05 })],
  ],
  ["packets-lost", [srtLink({ latePackets: 3 })], [srtLink({ latePackets: 1 })], [metrics()]],
  ["disk-nearly-full", [disk(GIB - 1)], [disk(2 * GIB - 1)], [disk(2 * GIB)]],
  ["disk-nearly-full", [disk(10 * GIB, 10 * GIB)], [disk(10 * GIB, 4_000_000)], [disk(10 * GIB)]],
  ["admission-refused", [ladder("source-only", "machine-full")], [], [ladder("starting")]],
  ["unsupported-source", [ladder("source-only", "unsupported-source")], [segment("source-only")], [ladder("starting")]],
  [
    "transcoder-failed",
    [ladder("source-only", "transcoder-failed")],
    [ladder("starting"), whole, whole],
    [whole, whole, whole],
  ],
  ["transcoder-failed", [segment("died")], [whole, whole, segment("died"), whole, whole], [metrics()]],
  [
    "transcoder-failed",
    [segment(null, 300, "killed")],
    [segment("source-only")],
    [ladder("source-only", "machine-full")],
  ],
  [
    "transcoder-behind",
    [ladder("running", undefined, 1_500)],
    [ladder("running", undefined, 100)],
    [whole, whole, whole],
  ],
  [
    "target-not-connected",
    [forwarded("pending", "refused")],
    [forwarded("pending", null)],
    [forwarded("online", null)],
  ],
  ["target-not-connected", [forwarded("offline", "refused")], [forwarded("offline", "refused")], [metrics()]],
  [
    "target-too-slow",
    [forwarded("online", "too slow")],
    [forwarded("online", "too slow")],
    [forwarded("online", null)],
  ],
  ["b-frames-with-webrtc-viewers", [watchedByWebrtc(true)], [watchedByWebrtc(true)], [watchedByWebrtc(false)]],
  ["transcoder-behind", [segment("late")], [whole, whole, segment("late"), whole, whole], [whole, whole, whole]],
  ["transcoder-behind", [segment(null, 2_001)], [whole, ladder("running")], [ladder("source-only", "machine-full")]],
];
type Fact = SourceMetrics | SegmentTranscoded;

describe("nextIssues", () => {
  it.each(rules)("%s opens, stays open between its limits, and closes", (code, opens, keeps, closes) => {
    expect(codesAfter(...opens)).toEqual([code]);
    expect(codesAfter(...opens, ...keeps)).toContain(code);
    expect(codesAfter(...opens, ...keeps, ...closes)).not.toContain(code);
  });

  it.each([
    ["a good source", metrics()],
    ["a keyframe interval that gives short segments", source({ keyframeIntervalMs: 2_400 })],
    ["a keyframe that has not come for 4 s at the start", source({ keyframeIntervalMs: 4_400, measuredSeconds: 5 })],
    ["a source without video", source({ video: "none", keyframeIntervalMs: null })],
    ["a second track that may still come", source({ audio: "none", measuredSeconds: 2 })],
    ["a source that sends nothing at all for a moment", source({ audio: "stopped", video: "stopped" })],
    ["a starved second", source({ starvedSeconds: 2 })],
    ["little room where nothing is recorded", metrics({ recordingRoom: null })],
    ["a target that is being connected to", forwarded("pending", null)],
    ["rungs that are made", ladder("running", undefined, 400)],
    ["a segment in time", whole],
    ["a segment of a stream that plays as source only", segment("source-only")],
  ])("%s opens nothing", (_what, ok) => {
    expect(nextIssues(NO_ISSUES, ok)).toBe(NO_ISSUES);
  });

  it.each([
    [{}, "Set the SRT latency of the encoder to at least 480 ms, four times the round trip"],
    [{ latencyMs: 480 }, "Lower the bitrate of the encoder"],
    [{ roundTripMs: 2, latencyMs: 120 }, "Lower the bitrate of the encoder"],
  ])("packets that are late over SRT (%j) come with what to do", (change, remedy) => {
    const { open } = nextIssues(NO_ISSUES, srtLink({ latePackets: 12, fractionLost: 0.302, ...change }));
    expect(open).toMatchObject([{ code: "packets-lost", isHarmful: true, remedy: expect.stringContaining(remedy) }]);
    expect(open[0]?.evidence).toContain("12 packets came too late or never. 30 % of the packets were lost");
  });

  it("tells of packets that SRT lost and repaired, which does no harm", () => {
    expect(nextIssues(NO_ISSUES, srtLink({ fractionLost: 0.3 })).open).toMatchObject([{ isHarmful: false }]);
  });

  it("tells of a keyframe every 4 s, which makes players start later and does no harm", () => {
    const { open } = nextIssues(NO_ISSUES, source({ keyframeIntervalMs: 4_000 }));
    expect(open).toMatchObject([{ code: "keyframe-interval-too-long", isHarmful: false }]);
  });

  it("a code keeps the words of its opening and is told once", () => {
    const first = nextIssues(NO_ISSUES, source({ keyframeIntervalMs: 8_300 }));
    expect(first.open).toMatchObject([{ sentence: "The keyframe interval is at least 8.3 s.", since: 1_000 }]);
    expect(nextIssues(first, source({ keyframeIntervalMs: 9_000 }))).toBe(first);
  });

  it("paused renditions are one alert that says what is so now, and ends when all have kept up", () => {
    const one = { name: "480p", width: 854, height: 480, state: "running", lagMs: 0 } as const;
    const reported = (first: "running" | "off", more: Partial<TranscodingReport> = {}) =>
      metrics({
        transcoding: {
          state: "running",
          renditions: [
            { ...one, state: first },
            { ...one, name: "240p" },
          ],
          ...more,
        },
      });
    const unsteady = (missed: SegmentTranscoded["missed"]) => ({ ...segment(missed), isSteady: false });
    const story: [Fact, RegExp | null][] = [
      [segment("late"), /does not keep up/],
      [reported("off"), /^480p is paused, because this machine is too slow/],
      [unsteady("late"), /^480p is paused/],
      [segment("died"), /^480p is paused/],
      [reported("off", { state: "source-only", cause: "too-slow", reason: "All are paused." }), /^All are paused\.$/],
      [reported("off"), /^480p is paused/],
      [reported("running", { isRecovering: true }), /^All renditions are made again/],
      [unsteady(null), /^All renditions/],
      [unsteady(null), /^All renditions/],
      [unsteady(null), /^All renditions/],
      [unsteady(null), /^All renditions/],
      [whole, null],
    ];
    let issues = NO_ISSUES;
    let alerts = 0;
    for (const [fact, sentence] of story) {
      const before = issues;
      issues = nextIssues(issues, fact);
      alerts += issueEvents({ id: "s", owner: { projectId: "p", userId: "u" } }, before, issues, 0).length;
      expect(issues.open.map(({ code }) => code)).toEqual(sentence ? ["transcoder-behind"] : []);
      if (sentence) expect(issues.open[0]?.sentence).toMatch(sentence);
    }
    expect(alerts).toBe(2);
  });

  it("a stream without sound is told of and not called unhealthy; one whose sound stopped is", () => {
    expect(nextIssues(NO_ISSUES, source({ audio: "none" })).open).toMatchObject([{ isHarmful: false }]);
    expect(nextIssues(NO_ISSUES, source({ audio: "stopped" })).open).toMatchObject([{ isHarmful: true }]);
  });
});

it("events tell what was closed and what was opened, in this order", () => {
  const before = nextIssues(NO_ISSUES, source({ clockJumps: 1 }));
  const after = nextIssues(before, source({ starvedSeconds: 5 }));
  const owner = { projectId: "p", userId: "u" };
  const events = issueEvents({ id: "s", owner }, before, after, 2_000);
  expect(events).toMatchObject([
    {
      subject: { kind: "stream", id: "s" },
      at: 2_000,
      body: { type: "stream_issue", code: "clock-jumps", state: "closed" },
    },
    {
      body: {
        code: "bitrate-unstable",
        state: "opened",
        evidence: "In 5 of the last 10 s less than half a second of media came.",
      },
    },
  ]);
  expect(issueEvents({ id: "s", owner }, after, after, 2_000)).toEqual([]);
});

it("every code has its row in the documents, and every row is a code", () => {
  const page = readFileSync(new URL("../../../../../docs/4-operate/stream-issues.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code);
  expect(rows.sort()).toEqual([...new Set(rules.map(([code]) => code))].sort());
  expect(rows).toEqual([...new Set([...Object.keys(metricsRules), ...Object.keys(segmentRules)])].sort());
});
