import type { Insertable, Kysely, Selectable, Transaction } from "kysely";
import type {
  AccountTable,
  ApiKeyTable,
  DashboardSessionTable,
  IdempotentRequestTable,
  PersonTable,
  ProjectTable,
  SigningKeyTable,
} from "./tables/account-tables.ts";
import type { AssetMediaTable, AssetTable, OrphanTable, TaskTable, TranscodeTable } from "./tables/asset-tables.ts";
import type { EventSequenceTable, EventTable } from "./tables/event-tables.ts";
import type { RecordingRenditionTable, RecordingSegmentTable, RecordingSpanTable } from "./tables/recording-tables.ts";
import type { NodeTable, PublicAddressTable, ServerSecretTable, WrittenBatchTable } from "./tables/server-tables.ts";
import type {
  MultistreamTargetTable,
  SessionEpochTable,
  SessionTable,
  SlateImageTable,
  StreamTable,
} from "./tables/stream-tables.ts";
import type { UsageHourTable, ViewerCountTable, ViewHourTable } from "./tables/view-tables.ts";
import type {
  WebhookDeliveryTable,
  WebhookLogTable,
  WebhookQueueTable,
  WebhookTable,
} from "./tables/webhook-tables.ts";

/** Every table, as `apps/server/migrations` makes them. */
export interface Schema {
  account: AccountTable;
  project: ProjectTable;
  api_key: ApiKeyTable;
  person: PersonTable;
  dashboard_session: DashboardSessionTable;
  idempotent_request: IdempotentRequestTable;
  node: NodeTable;
  stream: StreamTable;
  slate_image: SlateImageTable;
  multistream_target: MultistreamTargetTable;
  signing_key: SigningKeyTable;
  asset: AssetTable;
  asset_media: AssetMediaTable;
  orphan: OrphanTable;
  task: TaskTable;
  transcode: TranscodeTable;
  session: SessionTable;
  session_epoch: SessionEpochTable;
  recording_rendition: RecordingRenditionTable;
  recording_segment: RecordingSegmentTable;
  recording_span: RecordingSpanTable;
  event_sequence: EventSequenceTable;
  server_secret: ServerSecretTable;
  public_address: PublicAddressTable;
  written_batch: WrittenBatchTable;
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
export type TargetRow = Selectable<MultistreamTargetTable>;
export type SigningKeyRow = Selectable<SigningKeyTable>;
export type AssetRow = Selectable<AssetTable>;
export type NewAssetRow = Insertable<AssetTable>;
export type TranscodeRow = Selectable<TranscodeTable>;
export type NewTaskRow = Insertable<TaskTable>;
export type TaskRow = Selectable<TaskTable>;
export type SessionRow = Selectable<SessionTable>;
export type WebhookRow = Selectable<WebhookTable>;
export type WebhookLogRow = Selectable<WebhookLogTable>;
export type NewWebhookLogRow = Insertable<WebhookLogTable>;

/** The caller: nothing outside the project is visible. */
export interface Owner {
  readonly projectId: string;
  readonly userId: string;
}
