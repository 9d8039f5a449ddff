import type { Job, JobKind } from "../../platform/queue/job.ts";
import { TaskFailed } from "../../ports/index.ts";
import { brokenRunsSentence } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import type { TaskRow, TranscodeRow, Trx } from "../schema.ts";
import { eventOf, moveTranscode } from "./transcode-change.ts";
import { isInWork } from "./transcode-status.ts";
import { type CustomerTask, lockTranscode } from "./transcode-store.ts";

const MAX_SECONDS = 12 * 3_600;
const AT_ONCE = 4;
/** Each may have to wait for hours on a slow host of its owner's. */
const MAX_PER_PROJECT = 2;
/** Of one attempt. A killed process counts for none. */
const MAX_BROKEN_RUNS = 5;
/** Steps of progress that are told as events. */
const TOLD_STEPS = 10;
const MAX_SENTENCE = 1_000;

export interface TaskJobDeps extends Deps {
  readonly events: EventLog;
}

/** A task that waits or runs, and what it is to do. */
export interface TaskInWork {
  readonly task: TaskRow;
  readonly transcode: TranscodeRow;
}

/** Write what a task made, in the transaction that completes it. Resolves to its output as JSON, null for none. */
export type FinishTask = (trx: Trx, at: number) => Promise<string | null>;

/** What one type of task does; the rest of its life is that of all. */
export interface TaskWork {
  readonly type: CustomerTask;
  /** One run. Throws `TaskFailed`, and other errors for what may heal by itself. `progressed` throws when nobody wants the task any more. */
  run(
    found: TaskInWork,
    how: { readonly signal: AbortSignal; readonly progressed: (fraction: number) => Promise<void> },
  ): Promise<FinishTask>;
  /** After the end. A kill may come before it. */
  ended(task: TaskRow): Promise<void>;
}

/** Does one task between this server and a place of the customer's. At most one job for a task, whatever was queued. */
export function taskJob(deps: TaskJobDeps, work: TaskWork): JobKind {
  return {
    name: work.type,
    maxAtOnce: AT_ONCE,
    maxPerOwner: MAX_PER_PROJECT,
    maxSeconds: MAX_SECONDS,
    maxRetries: 50,
    firstRetrySeconds: 10,
    isOnePerKey: true,
    run: (job) => runTask(deps, work, job),
  };
}

/** The task has ended, or is gone. */
class NotWanted extends Error {}

async function runTask(deps: TaskJobDeps, work: TaskWork, { data, signal }: Job): Promise<void> {
  const { taskId } = data as { taskId: string };
  const { log } = deps;
  const found = await begin(deps, taskId);
  if (!found) return;
  try {
    const progressed = (fraction: number) => tellProgress(deps, taskId, fraction);
    const finish = await work.run(found, { signal, progressed });
    await complete(deps, taskId, finish);
    log.info({ taskId, type: work.type }, "a task is completed");
    await work.ended(found.task);
  } catch (error) {
    if (error instanceof NotWanted) return;
    const isFinal = error instanceof TaskFailed && error.isFinal;
    if (signal.aborted || (!isFinal && (await isWorthAnotherRun(deps, taskId)))) throw error;
    const sentence = error instanceof TaskFailed ? error.message : brokenRunsSentence(error, MAX_BROKEN_RUNS, "task");
    log.info({ taskId, type: work.type, reason: sentence, ...(!isFinal && { err: error }) }, "a task failed");
    await change(deps, taskId, (trx, { task }) =>
      moveTranscode(trx, task, "fail", {
        at: deps.clock.now(),
        set: { error: sentence.slice(0, MAX_SENTENCE), progress: task.progress },
      }),
    );
    await work.ended(found.task);
  }
}

async function begin(deps: TaskJobDeps, taskId: string): Promise<TaskInWork | null> {
  let begun: TaskInWork | null = null;
  await change(deps, taskId, async (trx, found) => {
    begun = found;
    return moveTranscode(trx, found.task, "begin", { at: deps.clock.now() });
  }).catch((error: unknown) => {
    if (!(error instanceof NotWanted)) throw error;
  });
  return begun;
}

async function tellProgress(deps: TaskJobDeps, taskId: string, fraction: number): Promise<void> {
  await change(deps, taskId, async (trx, { task }) => {
    const at = deps.clock.now();
    const progress = Math.max(task.progress, Math.min(1, fraction));
    await trx.updateTable("task").set({ progress, updated_at: at }).where("id", "=", taskId).execute();
    const isToldStep = Math.floor(progress * TOLD_STEPS) > Math.floor(task.progress * TOLD_STEPS);
    return isToldStep ? [eventOf(task, "task.updated", at)] : [];
  });
}

async function complete(deps: TaskJobDeps, taskId: string, finish: FinishTask): Promise<void> {
  await change(deps, taskId, async (trx, { task }) => {
    const at = deps.clock.now();
    const output = await finish(trx, at);
    await trx.deleteFrom("transcode").where("id", "=", taskId).execute();
    return moveTranscode(trx, task, "finish", { at, set: { progress: 1, output } });
  });
}

/** Count a run that broke off. */
async function isWorthAnotherRun({ db }: TaskJobDeps, taskId: string): Promise<boolean> {
  const row = await db
    .updateTable("transcode")
    .set((row) => ({ broken_runs: row("broken_runs", "+", 1) }))
    .where("id", "=", taskId)
    .returning("broken_runs")
    .executeTakeFirst();
  return row === undefined || row.broken_runs < MAX_BROKEN_RUNS;
}

/** Change a task that waits or runs. Throws `NotWanted` for any other. */
async function change(
  { db, events }: TaskJobDeps,
  taskId: string,
  act: (trx: Trx, found: TaskInWork) => ReturnType<typeof moveTranscode>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const found = await lockTranscode(trx, taskId);
    if (!found?.transcode || !isInWork(found.task.phase)) throw new NotWanted();
    await events.append(trx, await act(trx, { task: found.task, transcode: found.transcode }));
  });
}
