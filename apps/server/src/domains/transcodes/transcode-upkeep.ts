import { sql } from "kysely";
import type { Deps } from "../deps.ts";
import type { Duty } from "../duty.ts";
import type { QueuedTask, QueueTask } from "../tasks/index.ts";
import type { CustomerTaskType } from "./transcode-store.ts";

const BATCH = 100;
/** A running worker reports progress more often than this. */
const QUIET_MS = 60_000;
/** A failed task can be retried for this long, and its credentials are stored for as long. */
export const RETRYABLE_MS = 7 * 86_400_000;

export interface TranscodeUpkeepDeps extends Deps {
  readonly queueTask: QueueTask;
}

const quiet = (now: number) => sql`
  from transcode c join task t on t.id = c.id
  where t.phase in ('waiting', 'running') and t.updated_at <= ${now - QUIET_MS}::bigint`;
const forgotten = (now: number) => sql`
  t.id = c.id and t.phase = 'failed' and t.updated_at <= ${now - RETRYABLE_MS}::bigint`;

/** Queue tasks that wait for a worker: a kill between the row and its job leaves a task without one. A job that exists is not affected. */
export const queueQuietTranscodes: Duty<TranscodeUpkeepDeps> = {
  what: "queue transcodes and exports",
  isDue: (now) => sql`exists (select ${quiet(now)})`,
  async run({ db, clock, queueTask }) {
    const { rows } = await sql<QueuedTask & { type: CustomerTaskType }>`
      select c.id, c.project_id, t.type ${quiet(clock.now())} order by random() limit ${BATCH}`.execute(db);
    for (const task of rows) await queueTask(task.type, task);
  },
};

/** Delete the requests of failed tasks, with their credentials. */
export const forgetFailedTranscodes: Duty<TranscodeUpkeepDeps> = {
  what: "forget the credentials of failed tasks",
  isDue: (now) => sql`exists (select from transcode c join task t on ${forgotten(now)})`,
  async run({ db, clock }) {
    await sql`delete from transcode c using task t where ${forgotten(clock.now())}`.execute(db);
  },
};
