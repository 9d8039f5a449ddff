import type { Stream } from "@weir/contract";
import type { Selectable } from "kysely";
import { type Now, sourceIssues, verdictOf } from "./health-verdict.ts";
import type { Counters } from "./tables/columns.ts";

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

/** The counters of a stream or session row as the API shows them. */
export function counterFields(row: Selectable<Counters> & { last_seen: string }, now: Now | null): CounterFields {
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

/** Absent before the first broadcast; null if there is none now. */
function healthOf(now: Now | null): Pick<CounterFields, "isHealthy" | "issues"> {
  return { isHealthy: now && verdictOf(now), issues: now && now.state !== "idle" ? sourceIssues(now) : null };
}

/** Rounded to the millisecond, because the sum of many segments has floating-point noise. */
function seconds(sum: number): number {
  return Math.round(sum * 1000) / 1000;
}
