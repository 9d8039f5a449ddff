import { sql } from "kysely";
import type { Db, Owner, TaskRow, TranscodeRow, Trx } from "../schema.ts";

/** Types of tasks between this server and a place of the customer's. */
export const CUSTOMER_TASKS = ["transcode-file", "export"] as const;
export type CustomerTask = (typeof CUSTOMER_TASKS)[number];

/** Queue the work of a task. */
export type QueueTask = (task: Pick<TaskRow, "id" | "project_id" | "type">) => Promise<void>;

/** A task with what it is to do; the latter is null where it is no longer kept. */
export interface LockedTranscode {
  readonly task: TaskRow;
  readonly transcode: TranscodeRow | undefined;
}

/** The task of this id, whose row stays locked until the transaction ends. */
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

/** Hold back other requests of the project until the transaction ends, and count its tasks that wait or run. */
export async function countInWork(trx: Trx, { projectId }: Owner): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`transcodes of ${projectId}`}, 0))`.execute(trx);
  const { rows } = await sql<{ n: string }>`
    select count(*) as n from transcode c join task t on t.id = c.id
    where c.project_id = ${projectId} and t.phase in ('waiting', 'running')`.execute(trx);
  return Number(rows[0]?.n);
}

export const quietSince = (since: number) =>
  sql`(t.phase in ('waiting', 'running') and t.updated_at <= ${since}::bigint)`;
export const failedBefore = (since: number) => sql`(t.phase = 'failed' and t.updated_at <= ${since}::bigint)`;

/** Tasks that wait or run and were not moved on since. */
export async function findQuiet(db: Db, since: number, limit: number): Promise<Parameters<QueueTask>[0][]> {
  const { rows } = await sql<Parameters<QueueTask>[0]>`
    select c.id, c.project_id, t.type from transcode c join task t on t.id = c.id
    where ${quietSince(since)} order by random() limit ${limit}`.execute(db);
  return rows;
}

/** Forget what failed tasks were to do, with its credentials. */
export async function forgetFailed(db: Db, since: number): Promise<void> {
  await sql`delete from transcode c using task t where t.id = c.id and ${failedBefore(since)}`.execute(db);
}
