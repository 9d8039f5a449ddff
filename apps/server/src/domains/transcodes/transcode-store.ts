import { sql } from "kysely";
import { countRows } from "../api/index.ts";
import type { Owner, TaskRow, TranscodeRow, Trx } from "../schema.ts";

/** Types of tasks between this server and a customer's host. */
export const CUSTOMER_TASKS = ["transcode-file", "export"] as const;
export type CustomerTaskType = (typeof CUSTOMER_TASKS)[number];

/** A task with its request, which is undefined once it is deleted. */
export interface LockedTranscode {
  readonly task: TaskRow;
  readonly transcode: TranscodeRow | undefined;
}

/** The task with this id. Its row stays locked until the transaction ends. */
export async function lockTranscode(trx: Trx, id: string): Promise<LockedTranscode | undefined> {
  const task = await trx
    .selectFrom("task")
    .selectAll()
    .where("id", "=", id)
    .where("type", "in", CUSTOMER_TASKS)
    .forUpdate()
    .executeTakeFirst();
  if (!task) return undefined;
  const transcode = await trx.selectFrom("transcode").selectAll().where("id", "=", id).executeTakeFirst();
  return { task, transcode };
}

/** Count the project's unfinished tasks. Its other requests wait until the transaction ends. */
export async function countInWork(trx: Trx, { projectId }: Owner): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`transcodes of ${projectId}`}, 0))`.execute(trx);
  const tasks = sql`transcode c join task t on t.id = c.id`;
  return countRows(trx, tasks, sql`c.project_id = ${projectId} and t.phase in ('waiting', 'running')`);
}
