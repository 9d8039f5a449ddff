import type { Asset, AssetSource, NewStream, TaskPhase, TranscodeProfile } from "@weir/contract";
import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { VideoSpec } from "../../ports/index.ts";
import type { Int8, Int8OrNull, JsonOrNull, Owned, TextOrNull } from "./columns.ts";

export interface AssetTable extends Owned {
  id: string;
  created_by_token_name: TextOrNull;
  name: string;
  creator_id: TextOrNull;
  playback_id: string;
  playback_policy: JsonOrNull<NonNullable<NewStream["playbackPolicy"]>>;
  source: JSONColumnType<AssetSource>;
  profiles: JsonOrNull<TranscodeProfile[]>;
  static_mp4: ColumnType<boolean | null, boolean | null | undefined, boolean | null>;
  target_segment_seconds: number | null;
  keep_original: ColumnType<boolean | null, boolean | null | undefined, boolean | null>;
  retention_days: ColumnType<number | null, number | null | undefined, number | null>;
  task_id: string;
  created_at: Int8;
  phase: "uploading" | "waiting" | "processing" | "ready" | "failed";
  progress: Generated<number>;
  updated_at: Int8;
  error: TextOrNull;
  attempt: Generated<number>;
  broken_runs: Generated<number>;
  upload_expires_at: Int8OrNull;
  upload_node_id: TextOrNull;
  source_key: TextOrNull;
  size: Int8OrNull;
  hash: JsonOrNull<NonNullable<Asset["hash"]>>;
  video_spec: JsonOrNull<VideoSpec>;
  playable_at: Int8OrNull;
  deleted_at: Int8OrNull;
  purge_at: Int8OrNull;
}

export interface AssetMediaTable {
  asset_id: string;
  media: JSONColumnType<object>;
}

export interface TaskTable extends Owned {
  id: string;
  type: "upload" | "transcode-file" | "export" | "clip";
  phase: TaskPhase;
  progress: Generated<number>;
  updated_at: Int8;
  error: TextOrNull;
  retries: Generated<number>;
  created_at: Int8;
  scheduled_at: Int8OrNull;
  input_asset_id: TextOrNull;
  output_asset_id: TextOrNull;
  params: JSONColumnType<Record<string, unknown>>;
  output: JsonOrNull<Record<string, unknown>>;
}

/** What a `transcode-file` or `export` task is to do, with credentials of the customer's. */
export interface TranscodeTable {
  id: string;
  project_id: string;
  request: JSONColumnType<object>;
  attempt: Generated<number>;
  broken_runs: Generated<number>;
  created_at: Int8;
}

/** Files in the object store without a row. */
export interface OrphanTable {
  prefix: string;
  seen_at: Int8;
}
