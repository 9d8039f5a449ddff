import { sql } from "kysely";
import type { Deps } from "../deps.ts";
import type { Duty } from "../duty.ts";
import { failedBefore, findQuiet, forgetFailed, type QueueTask, quietSince } from "./transcode-store.ts";

const BATCH = 100;
/** A worker that works on a task moves it on more often than this. */
const QUIET_MS = 60_000;
/** How long a failed task can be retried: so long its credentials are kept. */
export const RETRYABLE_MS = 7 * 86_400_000;

export interface TranscodeUpkeepDeps extends Deps {
  readonly queueTask: QueueTask;
}

/** Queue what waits for a worker: where a kill came between a row and its job, there is none. One that is queued or runs stays as it is. */
export const queueQuietTranscodes: Duty<TranscodeUpkeepDeps> = {
  what: "queue transcodes and exports",
  isDue: (now) => sql`exists (select from transcode c join task t on t.id = c.id
    where ${quietSince(now - QUIET_MS)} or ${failedBefore(now - RETRYABLE_MS)})`,
  async run({ db, clock, queueTask }) {
    const now = clock.now();
    for (const task of await findQuiet(db, now - QUIET_MS, BATCH)) await queueTask(task);
    await forgetFailed(db, now - RETRYABLE_MS);
  },
};
