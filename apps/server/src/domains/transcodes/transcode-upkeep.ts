import type { Deps } from "../deps.ts";
import { findQuiet, forgetFailed, type QueueTranscode } from "./transcode-store.ts";

const BATCH = 100;
/** A worker that works on a task moves it on more often than this. */
const QUIET_MS = 60_000;
/** How long a failed task can be retried: so long its credentials are kept. */
export const RETRYABLE_MS = 7 * 86_400_000;

export interface TranscodeUpkeepDeps extends Deps {
  readonly queueTranscode: QueueTranscode;
}

/** Queue what waits for a worker: where a kill came between a row and its job, there is none. One that is queued or runs stays as it is. */
export async function queueQuietTranscodes({ db, clock, queueTranscode }: TranscodeUpkeepDeps): Promise<void> {
  const now = clock.now();
  for (const task of await findQuiet(db, now - QUIET_MS, BATCH)) await queueTranscode(task);
  await forgetFailed(db, now - RETRYABLE_MS);
}
