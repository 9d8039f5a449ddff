import type { Stream } from "@weir/contract";
import type { Selectable } from "kysely";
import type { Counters, StreamIssues } from "./schema.ts";

type CounterFields = Pick<
  Stream,
  | "lastSeen"
  | "sourceSegments"
  | "sourceSegmentsDuration"
  | "sourceBytes"
  | "transcodedSegments"
  | "transcodedSegmentsDuration"
  | "transcodedBytes"
  | "ingestRate"
  | "outgoingRate"
  | "isHealthy"
  | "issues"
>;

/** What health is judged by. */
export interface Now {
  readonly state: "idle" | "live" | "reconnecting";
  readonly issues: StreamIssues | null;
}

const SOURCE_AWAY = "No media comes from the broadcaster; its session stays open for it to come back.";

/** The counters of a stream or session row as the API shows them. */
export function counterFields(row: Selectable<Counters> & { last_seen: string }, now: Now): CounterFields {
  return {
    lastSeen: Number(row.last_seen),
    sourceSegments: Number(row.source_segments),
    sourceSegmentsDuration: seconds(row.source_segments_duration),
    sourceBytes: Number(row.source_bytes),
    transcodedSegments: Number(row.transcoded_segments),
    transcodedSegmentsDuration: seconds(row.transcoded_segments_duration),
    transcodedBytes: Number(row.transcoded_bytes),
    ingestRate: row.ingest_rate,
    outgoingRate: row.outgoing_rate,
    ...(row.last_seen === "0" ? {} : healthOf(now)),
  };
}

/** Absent before the first broadcast, null when there is none now. */
function healthOf({ state, issues }: Now): Pick<CounterFields, "isHealthy" | "issues"> {
  if (state === "idle") return { isHealthy: null, issues: null };
  const harmful = issues?.open.filter((issue) => issue.isHarmful).map(({ sentence }) => sentence) ?? [];
  const sentences = state === "reconnecting" ? [SOURCE_AWAY] : harmful;
  return { isHealthy: sentences.length === 0, issues: sentences };
}

/** To the millisecond: the sum of many segments has binary dust behind it. */
function seconds(sum: number): number {
  return Math.round(sum * 1000) / 1000;
}
