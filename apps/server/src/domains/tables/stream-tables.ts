import type { NewStream, Profile, PullStatus, RecordingSpec, StreamSlate, TargetRef } from "@weir/contract";
import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { SessionSound, TranscodingReport } from "../../ports/index.ts";
import type { StreamIssues } from "../open-issue.ts";
import type { TargetState } from "../target-state.ts";
import type { Bool, Counters, Int8, Int8Default, Int8OrNull, JsonOrNull, Owned, TextOrNull } from "./columns.ts";

type SlateName = Exclude<StreamSlate, "off">;

export interface StreamTable extends Owned, Counters {
  id: string;
  created_by_token_name: TextOrNull;
  name: string;
  creator_id: TextOrNull;
  user_tags: JsonOrNull<NonNullable<NewStream["userTags"]>>;
  stream_key: string;
  playback_id: string;
  playback_policy: JsonOrNull<NonNullable<NewStream["playbackPolicy"]>>;
  profiles: JSONColumnType<Profile[]>;
  record: boolean;
  recording_spec: JsonOrNull<RecordingSpec>;
  retention_days: ColumnType<number | null, number | null | undefined, number | null>;
  /** 0 for the whole session. */
  dvr_minutes: ColumnType<number | null, number | null | undefined, number | null>;
  /** Null for none. */
  slate: ColumnType<SlateName | null, SlateName | null | undefined, SlateName | null>;
  targets: ColumnType<TargetRef[], string | undefined, string>;
  pull: JsonOrNull<NonNullable<NewStream["pull"]>>;
  created_at: Int8;
  suspended: Bool;
  deleted_at: Int8OrNull;
  last_terminated_at: Int8OrNull;
  state: Generated<"idle" | "live" | "reconnecting">;
  state_since: Int8;
  reconnect_until: Int8OrNull;
  session_id: TextOrNull;
  epoch: Int8Default;
  grant_epoch: Int8Default;
  node_id: TextOrNull;
  last_seen: Int8Default;
  issues: JsonOrNull<StreamIssues>;
  transcoding: ColumnType<TranscodingReport | null, string | null | undefined, string | null>;
  target_states: JsonOrNull<TargetState[]>;
  pull_wanted: Bool;
  pull_version: Int8Default;
  pull_node_id: TextOrNull;
  pull_status: JsonOrNull<PullStatus>;
  pull_watched_until: Int8Default;
}

/** Of streams that have one. */
export interface SlateImageTable {
  stream_id: string;
  image: Buffer;
}

export interface SessionTable extends Owned, Counters {
  id: string;
  stream_id: string;
  name: string;
  profiles: JSONColumnType<Profile[]>;
  record: boolean;
  recording_spec: JsonOrNull<RecordingSpec>;
  dvr_seconds: ColumnType<number | null, number | null | undefined, never>;
  created_at: Int8;
  ended_at: Int8OrNull;
  epoch: Int8;
  next_msn: Int8Default;
  discontinuity_sequence: Int8Default;
  end_ticks: Int8Default;
  position_at: Int8OrNull;
  target_duration: Generated<number>;
  needed_target_duration: number | null;
  sound: JsonOrNull<SessionSound>;
  recording: "none" | "waiting" | "ready" | "failed" | "deleted";
  recording_playback_id: TextOrNull;
  recording_error: TextOrNull;
  settle_at: Int8OrNull;
  purge_at: Int8OrNull;
  spooled_at: Int8OrNull;
  mp4_bytes: Int8OrNull;
  last_seen: Int8;
}

export interface SessionEpochTable {
  session_id: string;
  epoch: Int8;
  node_id: string;
  first_msn: Int8;
  began_at: Int8;
}

export interface MultistreamTargetTable extends Owned {
  id: string;
  name: string;
  url: string;
  disabled: Bool;
  created_at: Int8;
}
