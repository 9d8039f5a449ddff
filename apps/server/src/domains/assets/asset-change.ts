import type { WebhookEventName } from "@weir/contract";
import { sql, type UpdateObject } from "kysely";
import type { NewEvent } from "../events/index.ts";
import type { AssetRow, Schema, Trx } from "../schema.ts";
import { assetSubject } from "../subject.ts";
import { lifecycleEvent, type TaskStep, taskEvent, taskMoved } from "../tasks/index.ts";
import { nextAssetPhase, taskPhaseOf } from "./asset-status.ts";

/** Columns of an asset to write. */
export type AssetColumns = UpdateObject<Schema, "asset">;

export interface AssetChange {
  readonly at: number;
  readonly set?: AssetColumns;
}

/** The asset with this id, deleted or not. Its row stays locked until the transaction ends. */
export async function lockAsset(trx: Trx, id: string): Promise<AssetRow | undefined> {
  return trx.selectFrom("asset").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

/** Move a locked asset, and the task that makes it, along their lifecycle. Append the events last in the transaction. */
export async function moveAsset(
  trx: Trx,
  row: AssetRow,
  step: TaskStep,
  { at, set = {} }: AssetChange,
): Promise<NewEvent[]> {
  const phase = nextAssetPhase(row.phase, step);
  const progress = phase === row.phase ? row.progress : 0;
  // The files of a failed asset are gone, even if some of them could be watched while the others were made.
  const unplayable = phase === "failed" ? { playable_at: null } : {};
  await writeAsset(trx, row, { at, set: { progress, error: null, ...unplayable, ...set, phase } });
  const events: WebhookEventName[] = ["asset.updated"];
  if (phase === "ready" || phase === "failed") events.push(`asset.${phase}`);
  return [
    ...events.map((event) => assetEvent(row, event, at)),
    ...taskMoved({ ...row, id: row.task_id }, taskPhaseOf(phase, false), at),
  ];
}

/** Write columns of a locked asset, and bring its task in line. */
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

type Named = Pick<AssetRow, "id" | "task_id" | "project_id" | "user_id">;

export const assetEvent = (row: Named, event: WebhookEventName, at: number): NewEvent =>
  lifecycleEvent(assetSubject(row.id), row, event, at);

/** About the task that makes the asset. */
export const eventOfTask = (row: Named, event: WebhookEventName, at: number): NewEvent =>
  taskEvent({ ...row, id: row.task_id }, event, at);
