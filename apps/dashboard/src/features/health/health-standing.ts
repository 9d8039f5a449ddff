import type { ConditionType, HealthCondition, OpenIssue, Stream, StreamHealth } from "@weir/contract";
import { strings } from "../../shared/strings.ts";
import { areaOf, type HealthArea } from "../events/health-areas.ts";

/** The stream's health in one word. `unknown` while it is live and nothing is measured yet. */
export type HealthStatus = "healthy" | "unhealthy" | "idle" | "unknown";

/** `blank`: there is nothing to check. `waiting`: it was not read yet. */
export type CheckState = "healthy" | "unhealthy" | "blank" | "waiting";

export interface HealthCheck {
  readonly area: HealthArea;
  readonly state: CheckState;
  readonly sentence: string;
  readonly condition?: HealthCondition;
}

export interface HealthStanding {
  readonly status: HealthStatus;
  /** The reason why the stream is not healthy; null while it is healthy or idle. */
  readonly reason: string | null;
  readonly checks: readonly HealthCheck[];
}

const text = strings.health;
const CONDITIONS = {
  transcoding: "Transcoding",
  realTime: "TranscodeRealTime",
  multistreaming: "Multistreaming",
} as const satisfies Partial<Record<HealthArea, ConditionType>>;

/**
 * The health of a stream: one word, one reason, and a line for each area. The open issues of the stream decide, which every list has too. A bad
 * reading of the health record without an issue is on its way to one or away from it, and no verdict yet.
 */
export function standingOf(stream: Stream, health: StreamHealth | undefined): HealthStanding {
  const harmful = harmfulOf(stream);
  const isTranscoded = stream.profiles.length > 0;
  const checks = [
    sourceCheck(stream, harmful),
    checkOf("transcoding", health, harmful, isTranscoded),
    checkOf("realTime", health, harmful, isTranscoded),
    checkOf("multistreaming", health, harmful, stream.multistream.targets.length > 0),
  ];
  if (!stream.isActive) return { status: "idle", reason: null, checks };
  if (stream.status.state === "reconnecting") return { status: "unhealthy", reason: text.checks.source.away, checks };
  const [worst] = harmful;
  if (worst) return { status: "unhealthy", reason: worst.sentence, checks };
  const isUnknown = health !== undefined && health.healthy.status === null;
  return { status: isUnknown ? "unknown" : "healthy", reason: isUnknown ? text.summary.unknown : null, checks };
}

/** The open issues of a stream, the harmful ones first. */
export function issuesOf(stream: Stream): readonly OpenIssue[] {
  return [...(stream.status.issues ?? [])].sort((a, b) => Number(b.isHarmful) - Number(a.isHarmful));
}

/** What keeps the stream from being healthy, in the server's order: its first issue is the diagnosis. */
function harmfulOf(stream: Stream): readonly OpenIssue[] {
  return (stream.status.issues ?? []).filter(({ isHarmful }) => isHarmful);
}

function sourceCheck({ status: { state } }: Stream, harmful: readonly OpenIssue[]): HealthCheck {
  const source = text.checks.source;
  if (state === "idle") return { area: "source", state: "blank", sentence: source.blank };
  if (state === "reconnecting") return { area: "source", state: "unhealthy", sentence: source.away };
  const issue = harmful.find(({ code }) => areaOf(code) === "source");
  return { area: "source", state: issue ? "unhealthy" : "healthy", sentence: issue?.sentence ?? source.healthy };
}

/** A check fails while an issue of its area is open: a single good reading in between does not end an issue. */
function checkOf(
  area: keyof typeof CONDITIONS,
  health: StreamHealth | undefined,
  harmful: readonly OpenIssue[],
  isConfigured: boolean,
): HealthCheck {
  const words = text.checks[area];
  const condition = health?.conditions.find(({ type }) => type === CONDITIONS[area]);
  const read = { area, ...(condition && { condition }) };
  const status = condition?.status ?? null;
  const issue = harmful.find(
    ({ code }) => areaOf(code) === area || (status === false && sameLadder(areaOf(code), area)),
  );
  if (issue) return { ...read, state: "unhealthy", sentence: issue.sentence };
  if (status) return { ...read, state: "healthy", sentence: words.healthy };
  if (!isConfigured && status === null) return { ...read, state: "blank", sentence: words.blank };
  return { ...read, state: "waiting", sentence: status === null ? words.waiting : words.late };
}

/** One issue at a time is about the ladder; it explains both of the ladder's checks. */
function sameLadder(one: HealthArea, other: HealthArea): boolean {
  const ladder: readonly HealthArea[] = ["transcoding", "realTime"];
  return ladder.includes(one) && ladder.includes(other);
}
