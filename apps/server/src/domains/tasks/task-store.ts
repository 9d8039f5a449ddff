import type { Task } from "@weir/contract";
import { sql } from "kysely";
import { fieldsOf, type ListFields } from "../api/index.ts";
import { isId, newId } from "../ids.ts";
import type { Db, NewTaskRow, TaskRow, Trx } from "../schema.ts";
import { taskRecord, withoutTaskSecrets } from "./task-record.ts";

export const taskFields: ListFields = {
  ...fieldsOf({
    id: ["id", "projectId", "userId", "inputAssetId", "outputAssetId"],
    text: ["type", "phase"],
    int: ["createdAt", "updatedAt"],
  }),
  "status.phase": { kind: "text", column: sql.ref("phase") },
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
