import type { ConditionType, HealthCondition, OpenIssue, Stream, StreamHealth } from "@weir/contract";
import { strings } from "../../strings.ts";
import { areaOf, type HealthArea } from "./health-areas.ts";

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

/** The health of a stream: the three checks and the source, and one word for all of them. Without a health record the stream's own issues decide. */
export function standingOf(stream: Stream, health: StreamHealth | undefined): HealthStanding {
  const harmed = new Map(harmfulOf(stream).map(({ code, sentence }) => [areaOf(code), sentence]));
  const checks = [
    sourceCheck(stream, harmed),
    checkOf("transcoding", health, harmed, stream.profiles.length > 0),
    checkOf("realTime", health, harmed, stream.profiles.length > 0),
    checkOf("multistreaming", health, harmed, stream.multistream.targets.length > 0),
  ];
  if (!stream.isActive) return { status: "idle", reason: null, checks };
  const failed = checks.find(({ state }) => state === "unhealthy");
  if (failed) return { status: "unhealthy", reason: harmed.get(failed.area) ?? failed.sentence, checks };
  const isHealthy = health?.healthy.status === true;
  return { status: isHealthy ? "healthy" : "unknown", reason: isHealthy ? null : text.summary.unknown, checks };
}

/** The open issues of a stream, the harmful ones first. */
export function issuesOf(stream: Stream): readonly OpenIssue[] {
  return [...(stream.status.issues ?? [])].sort((a, b) => Number(b.isHarmful) - Number(a.isHarmful));
}

/** The harmful issues, newest first: a map made of them keeps the oldest one of each area. */
function harmfulOf(stream: Stream): readonly OpenIssue[] {
  return (stream.status.issues ?? []).filter(({ isHarmful }) => isHarmful).reverse();
}

type Harmed = ReadonlyMap<HealthArea, string>;

function sourceCheck({ status: { state } }: Stream, harmed: Harmed): HealthCheck {
  const source = text.checks.source;
  if (state === "idle") return { area: "source", state: "blank", sentence: source.blank };
  if (state === "reconnecting") return { area: "source", state: "unhealthy", sentence: source.away };
  const verdict = harmed.has("source") ? "unhealthy" : "healthy";
  return { area: "source", state: verdict, sentence: source[verdict] };
}

/** A check fails on a bad reading, and while an issue is open: a single good reading in between does not end an issue. */
function checkOf(
  area: keyof typeof CONDITIONS,
  health: StreamHealth | undefined,
  harmed: Harmed,
  isConfigured: boolean,
): HealthCheck {
  const condition = health?.conditions.find(({ type }) => type === CONDITIONS[area]);
  const status = harmed.has(area) ? false : (condition?.status ?? null);
  const state = status === null ? (isConfigured ? "waiting" : "blank") : status ? "healthy" : "unhealthy";
  return { area, state, sentence: text.checks[area][state], ...(condition && { condition }) };
}
