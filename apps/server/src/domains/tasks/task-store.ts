import type { Task } from "@weir/contract";
import { sql } from "kysely";
import type { ListFields } from "../api/index.ts";
import { isId, newId } from "../ids.ts";
import type { Db, NewTaskRow, TaskRow, Trx } from "../schema.ts";
import { taskRecord, withoutTaskSecrets } from "./task-record.ts";

export const taskFields: ListFields = {
  id: { kind: "id", column: sql.ref("id") },
  type: { kind: "text", column: sql.ref("type") },
  projectId: { kind: "id", column: sql.ref("project_id") },
  userId: { kind: "id", column: sql.ref("user_id") },
  inputAssetId: { kind: "id", column: sql.ref("input_asset_id") },
  outputAssetId: { kind: "id", column: sql.ref("output_asset_id") },
  phase: { kind: "text", column: sql.ref("phase") },
  "status.phase": { kind: "text", column: sql.ref("phase") },
  createdAt: { kind: "int", column: sql.ref("created_at") },
  updatedAt: { kind: "int", column: sql.ref("updated_at") },
};

export interface TaskToInsert extends Omit<NewTaskRow, "id" | "updated_at" | "params"> {
  readonly params: Record<string, unknown>;
}

export async function insertTask(trx: Trx, { params, ...row }: TaskToInsert): Promise<TaskRow> {
  return trx
    .insertInto("task")
    .values({ ...row, id: newId(), updated_at: row.created_at, params: JSON.stringify(params) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A task for its webhooks, without secrets. */
export async function readTask(db: Db, id: string): Promise<Task | null> {
  const row = isId(id) && (await db.selectFrom("task").selectAll().where("id", "=", id).executeTakeFirst());
  return row ? withoutTaskSecrets(taskRecord(row)) : null;
}
