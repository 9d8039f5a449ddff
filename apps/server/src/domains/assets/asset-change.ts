import type { WebhookEventName } from "@weir/contract";
import { sql, type UpdateObject } from "kysely";
import type { NewEvent } from "../events/index.ts";
import type { AssetRow, Schema, Trx } from "../schema.ts";
import { assetSubject, type Subject, taskSubject } from "../subject.ts";
import { type AssetInput, type AssetPhase, nextAssetPhase, taskPhaseOf } from "./asset-status.ts";

/** What else the change writes, by column. */
type Columns = UpdateObject<Schema, "asset">;

export interface AssetChange {
  readonly at: number;
  readonly set?: Columns;
}

/** The asset of this id, whose row stays locked until the transaction ends. Deleted ones are found, too. */
export async function lockAsset(trx: Trx, id: string): Promise<AssetRow | undefined> {
  return trx.selectFrom("asset").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

/** Move a locked asset, and the task that makes it, along their lifecycle. The events are to be appended last in the transaction. */
export async function moveAsset(
  trx: Trx,
  row: AssetRow,
  input: AssetInput,
  { at, set = {} }: AssetChange,
): Promise<NewEvent[]> {
  const phase = nextAssetPhase(row.phase, input);
  await writeAsset(trx, row, {
    at,
    set: { progress: phase === row.phase ? row.progress : 0, error: null, ...set, phase },
  });
  const events: WebhookEventName[] = ["asset.updated"];
  if (phase === "ready" || phase === "failed") events.push(`asset.${phase}`);
  return [
    ...events.map((event) => assetEvent(row, event, at)),
    ...taskEvents(phase).map((event) => taskEvent(row, event, at)),
  ];
}

/** Change a locked asset where it stays in its phase, and bring its task to the same. */
export async function writeAsset(trx: Trx, row: AssetRow, { at, set = {} }: AssetChange): Promise<void> {
  await trx
    .updateTable("asset")
    .set({ ...set, updated_at: at })
    .where("id", "=", row.id)
    .execute();
  const { rows } = await sql<Pick<AssetRow, "phase" | "deleted_at">>`
    select phase, deleted_at from asset where id = ${row.id}`.execute(trx);
  const [now] = rows;
  if (!now) return;
  await sql`
    update task t set phase = ${taskPhaseOf(now.phase, now.deleted_at !== null)}, progress = a.progress, error = a.error,
      retries = a.attempt - 1 + a.broken_runs, updated_at = ${at}::bigint,
      scheduled_at = case when a.phase = 'uploading' then null else coalesce(t.scheduled_at, ${at}::bigint) end
    from asset a where a.id = ${row.id} and t.id = a.task_id`.execute(trx);
}

function taskEvents(phase: AssetPhase): WebhookEventName[] {
  if (phase === "ready") return ["task.updated", "task.completed"];
  return phase === "failed" ? ["task.updated", "task.failed"] : ["task.updated"];
}

type Named = Pick<AssetRow, "id" | "task_id" | "project_id" | "user_id">;

export const assetEvent = (row: Named, event: WebhookEventName, at: number): NewEvent =>
  eventAbout(assetSubject(row.id), row, event, at);

export const taskEvent = (row: Named, event: WebhookEventName, at: number): NewEvent =>
  eventAbout(taskSubject(row.task_id), row, event, at);

function eventAbout(subject: Subject, row: Named, event: WebhookEventName, at: number): NewEvent {
  return {
    subject,
    owner: { projectId: row.project_id, userId: row.user_id },
    at,
    kind: "lifecycle",
    body: { type: "webhook_event", event, userId: row.user_id },
  };
}
