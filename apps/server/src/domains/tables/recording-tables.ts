import type { ColumnType, JSONColumnType } from "kysely";
import type { StoredTrack } from "../../ports/index.ts";
import type { Int8, Owned } from "./columns.ts";

export interface RecordingRenditionTable extends Owned {
  session_id: string;
  rendition: string;
  track: JSONColumnType<StoredTrack>;
}

export interface RecordingSegmentTable extends Owned {
  session_id: string;
  rendition: string;
  msn: Int8;
  epoch: Int8;
  start_ticks: Int8;
  duration_ticks: Int8;
  program_date_time: Int8;
  discontinuity: boolean;
  gap: boolean;
  init: string;
  span: string;
  byte_offset: Int8;
  byte_length: Int8;
  independent: ColumnType<boolean | null, boolean | null | undefined, boolean | null>;
  keyframe_bytes: ColumnType<number | null, number | null | undefined, number | null>;
}

export interface RecordingSpanTable extends Owned {
  session_id: string;
  rendition: string;
  span: string;
  epoch: Int8;
  bytes: Int8;
  sealed_at: Int8;
}
