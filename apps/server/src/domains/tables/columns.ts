import type { ColumnType, Generated } from "kysely";
import type { SubjectKind } from "../subject.ts";

/** PostgreSQL's bigint: the driver reads it as text. All of ours stay below 2^53. */
export type Int8 = ColumnType<string, number, number>;
export type Int8Default = ColumnType<string, number | undefined, number>;
export type Int8OrNull = ColumnType<string | null, number | null | undefined, number | null>;
export type Bool = ColumnType<boolean, boolean | undefined, boolean>;
export type JsonOrNull<Value> = ColumnType<Value | null, string | null | undefined, string | null>;
export type TextOrNull = ColumnType<string | null, string | null | undefined, string | null>;

/** Columns of a row that belongs to a project. */
export interface Owned {
  project_id: string;
  user_id: string;
}

/** The columns of every row about a subject. */
export interface AboutSubject {
  subject_kind: SubjectKind;
  subject_id: string;
}

/** What a stream and each of its sessions count. */
export interface Counters {
  source_segments: Int8Default;
  source_segments_duration: Generated<number>;
  source_bytes: Int8Default;
  transcoded_segments: Int8Default;
  transcoded_segments_duration: Generated<number>;
  transcoded_bytes: Int8Default;
  ingest_rate: Generated<number>;
  outgoing_rate: Generated<number>;
}
