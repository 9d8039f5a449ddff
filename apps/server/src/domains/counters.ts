import type { Stream } from "@weir/contract";
import type { Selectable } from "kysely";
import type { Counters } from "./schema.ts";

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

/** The counters of a stream or session row as the API shows them. Health is null once seen, until something judges it. */
export function counterFields(row: Selectable<Counters> & { last_seen: string }): CounterFields {
  return {
    lastSeen: Number(row.last_seen),
    sourceSegments: Number(row.source_segments),
    sourceSegmentsDuration: row.source_segments_duration,
    sourceBytes: Number(row.source_bytes),
    transcodedSegments: Number(row.transcoded_segments),
    transcodedSegmentsDuration: row.transcoded_segments_duration,
    transcodedBytes: Number(row.transcoded_bytes),
    ingestRate: row.ingest_rate,
    outgoingRate: row.outgoing_rate,
    ...(row.last_seen === "0" ? {} : { isHealthy: null, issues: null }),
  };
}
