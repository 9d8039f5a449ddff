import type {
  Access,
  Asset,
  AssetSource,
  NewStream,
  Profile,
  RecordingSpec,
  TargetRef,
  TaskPhase,
  TranscodeProfile,
  Webhook,
  WebhookEventName,
} from "@weir/contract";
import type {
  ColumnType,
  Generated,
  GeneratedAlways,
  Insertable,
  JSONColumnType,
  Kysely,
  Selectable,
  Transaction,
} from "kysely";
import type { StoredTrack, TargetReport, TranscodingReport, VideoSpec } from "../ports/index.ts";
import type { SubjectKind } from "./subject.ts";

/** PostgreSQL's bigint: the driver reads it as text. All of ours stay below 2^53. */
type Int8 = ColumnType<string, number, number>;
type Int8Default = ColumnType<string, number | undefined, number>;
type Int8OrNull = ColumnType<string | null, number | null | undefined, number | null>;
type Bool = ColumnType<boolean, boolean | undefined, boolean>;
type JsonOrNull<Value> = ColumnType<Value | null, string | null | undefined, string | null>;
type TextOrNull = ColumnType<string | null, string | null | undefined, string | null>;

interface Owned {
  project_id: string;
  user_id: string;
}

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

interface AccountTable {
  id: string;
  name: string;
  suspended: Bool;
  created_at: Int8;
}

interface ProjectTable {
  id: string;
  user_id: string;
  name: string;
  created_at: Int8;
  deleted_at: Int8OrNull;
}

interface ApiKeyTable extends Owned {
  id: string;
  name: string;
  prefix: string;
  hash: Buffer;
  access: JsonOrNull<Access>;
  /** May sign in to all projects of its account. */
  account_wide: Generated<boolean>;
  created_at: Int8;
  last_used_at: Int8OrNull;
}

interface IdempotentRequestTable extends Owned {
  api_key_id: string;
  key: string;
  fingerprint: Buffer;
  created_at: Int8;
  status: number | null;
  body: string | null;
}

interface PersonTable {
  id: string;
  user_id: string;
  name: string;
  password_hash: string;
  created_at: Int8;
  last_seen: Int8OrNull;
}

/** Of a key or of a person. */
interface DashboardSessionTable extends Owned {
  hash: Buffer;
  api_key_id: TextOrNull;
  person_id: TextOrNull;
  created_at: Int8;
  expires_at: Int8;
}

interface NodeTable {
  id: string;
  name: string;
  region: string;
  roles: string[];
  state: "joining" | "serving" | "draining" | "gone";
  epoch: Int8Default;
  joined_at: Generated<Date>;
  seen_at: Generated<Date>;
}

interface StreamTable extends Owned, Counters {
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
  node_id: TextOrNull;
  last_seen: Int8Default;
  issues: JsonOrNull<StreamIssues>;
  transcoding: ColumnType<TranscodingReport | null, string | null | undefined, string | null>;
  target_states: JsonOrNull<TargetState[]>;
}

/** How a target of a live stream is doing. */
export interface TargetState extends Omit<TargetReport, "metrics"> {
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
}

/** The issues that a live stream can have. */
export type IssueCode =
  | "keyframe-interval-too-long"
  | "no-keyframes"
  | "audio-missing"
  | "video-missing"
  | "bitrate-unstable"
  | "clock-jumps"
  | "disk-nearly-full"
  | "admission-refused"
  | "unsupported-source"
  | "transcoder-failed"
  | "transcoder-behind"
  | "target-not-connected"
  | "target-too-slow";

/** One of them that is open. Without harm it is told, and the stream still counts as healthy. */
export interface OpenIssue {
  readonly code: IssueCode;
  readonly sentence: string;
  readonly evidence: string;
  readonly remedy: string;
  readonly isHarmful: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
}

export interface StreamIssues {
  readonly open: readonly OpenIssue[];
  /** Segments in a row that the transcoder got right, while an issue waits for that. */
  readonly wellSegments: number;
}

interface MultistreamTargetTable extends Owned {
  id: string;
  name: string;
  url: string;
  disabled: Bool;
  created_at: Int8;
}

interface SessionTable extends Owned, Counters {
  id: string;
  stream_id: string;
  name: string;
  profiles: JSONColumnType<Profile[]>;
  record: boolean;
  recording_spec: JsonOrNull<RecordingSpec>;
  created_at: Int8;
  ended_at: Int8OrNull;
  epoch: Int8;
  next_msn: Int8Default;
  discontinuity_sequence: Int8Default;
  end_ticks: Int8Default;
  target_duration: Generated<number>;
  needed_target_duration: number | null;
  recording: "none" | "waiting" | "ready" | "failed" | "deleted";
  recording_playback_id: TextOrNull;
  recording_error: TextOrNull;
  settle_at: Int8OrNull;
  purge_at: Int8OrNull;
  spooled_at: Int8OrNull;
  mp4_bytes: Int8OrNull;
  last_seen: Int8;
}

interface RecordingRenditionTable extends Owned {
  session_id: string;
  rendition: string;
  track: JSONColumnType<StoredTrack>;
}

interface RecordingSegmentTable extends Owned {
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
}

interface RecordingSpanTable extends Owned {
  session_id: string;
  rendition: string;
  span: string;
  epoch: Int8;
  bytes: Int8;
  sealed_at: Int8;
}

interface AssetTable extends Owned {
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
  source_key: TextOrNull;
  size: Int8OrNull;
  hash: JsonOrNull<NonNullable<Asset["hash"]>>;
  video_spec: JsonOrNull<VideoSpec>;
  playable_at: Int8OrNull;
  deleted_at: Int8OrNull;
  purge_at: Int8OrNull;
}

interface AssetMediaTable {
  asset_id: string;
  media: JSONColumnType<object>;
}

interface TaskTable extends Owned {
  id: string;
  type: "upload" | "transcode-file" | "clip";
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

interface SigningKeyTable extends Owned {
  id: string;
  name: string;
  public_key: string;
  disabled: Bool;
  created_at: Int8;
  last_seen: Int8OrNull;
}

/** The columns of every row about a subject. */
interface AboutSubject {
  subject_kind: SubjectKind;
  subject_id: string;
}

interface EventSequenceTable extends AboutSubject {
  seq: Int8Default;
}

export interface EventTable extends Owned, AboutSubject {
  seq: Int8;
  at: Int8;
  type: string;
  v: number;
  data: JSONColumnType<Record<string, unknown>>;
}

interface UsageHourTable extends Owned, AboutSubject {
  hour: Int8;
  transcoded_ms: Int8Default;
}

interface ViewHourTable extends Owned, AboutSubject {
  playback_id: string;
  hour: Int8;
  device_type: Generated<string>;
  os: Generated<string>;
  browser: Generated<string>;
  country: Generated<string>;
  view_count: Int8Default;
  playtime_ms: Int8Default;
  errors: Int8Default;
  heartbeats: Int8Default;
  players: Int8Default;
  starts: Int8Default;
  ttff_ms: Int8Default;
  playing_ms: Int8Default;
  rebuffering_ms: Int8Default;
}

interface ViewerCountTable extends Owned, AboutSubject {
  node_id: string;
  playback_id: string;
  device_type: Generated<string>;
  os: Generated<string>;
  browser: Generated<string>;
  country: Generated<string>;
  viewers: number;
  told_at: Int8;
}

interface WebhookTable extends Owned {
  id: string;
  name: string;
  url: string;
  events: WebhookEventName[];
  stream_id: TextOrNull;
  shared_secret: TextOrNull;
  created_at: Int8;
  paused_at: Int8OrNull;
  pause_reason: TextOrNull;
  failures: Generated<number>;
  last_triggered_at: Int8OrNull;
  last_failure: JsonOrNull<NonNullable<Webhook["status"]["lastFailure"]>>;
}

interface WebhookDeliveryTable extends AboutSubject {
  id: GeneratedAlways<string>;
  webhook_id: string;
  lane: Int8Default;
  seq: Int8;
  event_at: Int8;
  event: WebhookEventName;
  created_at: Int8;
  attempts: Generated<number>;
  first_tried_at: Int8OrNull;
}

interface WebhookQueueTable extends AboutSubject {
  webhook_id: string;
  lane: Int8Default;
  due_at: Int8;
  claimed_by: TextOrNull;
  claimed_until: Int8Default;
}

interface WebhookLogTable {
  id: string;
  webhook_id: string;
  project_id: string;
  event: WebhookEventName;
  created_at: Int8;
  duration_ms: number;
  attempt: number;
  success: boolean;
  url: string;
  headers: JSONColumnType<Record<string, string>>;
  body: string;
  status: number | null;
  status_text: TextOrNull;
  response: Buffer | null;
  error: TextOrNull;
  retry_at: Int8OrNull;
}

interface PublicAddressTable {
  id: number;
  used: string | null;
  pinned: string | null;
}

/** Every table, as `apps/server/migrations` makes them. */
interface ServerSecretTable {
  name: string;
  secret: Buffer;
  created_at: Int8;
}

/** Files in the object store without a row. */
interface OrphanTable {
  prefix: string;
  seen_at: Int8;
}

export interface Schema {
  account: AccountTable;
  project: ProjectTable;
  api_key: ApiKeyTable;
  person: PersonTable;
  dashboard_session: DashboardSessionTable;
  idempotent_request: IdempotentRequestTable;
  node: NodeTable;
  stream: StreamTable;
  multistream_target: MultistreamTargetTable;
  signing_key: SigningKeyTable;
  asset: AssetTable;
  asset_media: AssetMediaTable;
  orphan: OrphanTable;
  task: TaskTable;
  session: SessionTable;
  recording_rendition: RecordingRenditionTable;
  recording_segment: RecordingSegmentTable;
  recording_span: RecordingSpanTable;
  event_sequence: EventSequenceTable;
  server_secret: ServerSecretTable;
  public_address: PublicAddressTable;
  event_lifecycle: EventTable;
  event_telemetry: EventTable;
  webhook: WebhookTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_queue: WebhookQueueTable;
  webhook_log: WebhookLogTable;
  usage_hour: UsageHourTable;
  view_hour: ViewHourTable;
  viewer_count: ViewerCountTable;
}

export type Db = Kysely<Schema>;
export type Trx = Transaction<Schema>;
export type ApiKeyRow = Selectable<ApiKeyTable>;
export type PersonRow = Selectable<PersonTable>;
export type ProjectRow = Selectable<ProjectTable>;
export type StreamRow = Selectable<StreamTable>;
export type NewStreamRow = Insertable<StreamTable>;
export type TargetRow = Selectable<MultistreamTargetTable>;
export type NewTargetRow = Insertable<MultistreamTargetTable>;
export type SigningKeyRow = Selectable<SigningKeyTable>;
export type AssetRow = Selectable<AssetTable>;
export type NewAssetRow = Insertable<AssetTable>;
export type TaskRow = Selectable<TaskTable>;
export type SessionRow = Selectable<SessionTable>;
export type WebhookRow = Selectable<WebhookTable>;
export type NewWebhookRow = Insertable<WebhookTable>;
export type WebhookLogRow = Selectable<WebhookLogTable>;
export type NewWebhookLogRow = Insertable<WebhookLogTable>;

/** The caller: nothing outside the project is visible. */
export interface Owner {
  readonly projectId: string;
  readonly userId: string;
}
