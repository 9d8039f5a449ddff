import { DatabaseAway } from "../../platform/database-away.ts";
import type { Job, JobKind } from "../../platform/queue/job.ts";
import type { JobQueue } from "../../platform/queue/job-queue.ts";
import { isDiskAway } from "../../platform/storage/disk-failed.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";
import { ProcessingBroke, TaskFailed, type TaskRun } from "../../ports/index.ts";
import type { EventDeps, NewEvent } from "../events/index.ts";
import type { Trx } from "../schema.ts";
import { maxBrokenRuns, nounOf, placesOf, type QueueTask, type TaskJobName, waitsForStorage } from "./task-places.ts";
import type { TaskStep } from "./task-status.ts";

const REPORT_EVERY_MS = 1_000;
/** Steps of progress that are reported as events. */
const EVENT_STEPS = 10;
const MAX_SENTENCE = 1_000;

export interface TaskState {
  /** From 0 to 1. */
  readonly progress: number;
  readonly broken_runs: number;
  readonly error: string | null;
}

/** A task that waits or runs. Its row stays locked until the transaction ends, and its methods belong to that transaction. */
export interface LockedTask<Row extends TaskState> {
  readonly row: Row;
  /** Write the state of a task that stays in its phase. */
  write(set: Partial<TaskState>): Promise<void>;
  /** Move it along its lifecycle; resolves to the events that report it. */
  move(step: TaskStep, set?: { readonly error: string }): Promise<NewEvent[]>;
  /** The events that report a change without a move. */
  updated(): NewEvent[];
}

export interface RunningTask<Task> extends TaskRun {
  /** Change the task's rows, and append the events that the change resolves to. Throws if nobody wants the task any more. */
  change(act: (task: Task, trx: Trx, at: number) => Promise<NewEvent[]>): Promise<void>;
}

/** What tasks of one kind do. */
export interface TaskKind<Row extends TaskState, Task extends LockedTask<Row>, Result> {
  readonly name: TaskJobName;
  /** Null if nobody wants the task to run: it has ended, or its owner deleted it. */
  lock(trx: Trx, id: string, at: number): Promise<Task | null>;
  /** The first change of each run. */
  begin(task: Task): Promise<NewEvent[]>;
  /** Throws `TaskFailed`, and other errors for temporary faults. */
  run(row: Row, run: RunningTask<Task>): Promise<Result>;
  /** Store the result. */
  finish(task: Task, result: Result, trx: Trx, at: number): Promise<NewEvent[]>;
  /** After the task has ended, well or not. A kill may prevent it. */
  ended?(row: Row, how: "completed" | "failed"): Promise<void>;
}

/** A run failed, and the task shows why until the next one. */
export class RunFailed extends TaskFailed {
  readonly meanwhile: string;

  constructor(sentence: string, options: { readonly isFinal: boolean; readonly meanwhile: string; cause: unknown }) {
    super(sentence, options);
    this.meanwhile = options.meanwhile;
  }
}

/** Runs tasks of one kind: begin, run, and then finish, fail, or leave it to the next run. */
export function taskJob<Row extends TaskState, Task extends LockedTask<Row>, Result>(
  deps: EventDeps,
  kind: TaskKind<Row, Task, Result>,
): JobKind {
  return { ...placesOf(kind.name), run: (job) => new Run(deps, kind, job).work() };
}

export const taskQueue =
  (jobs: Pick<JobQueue, "add">): QueueTask =>
  async (name, { id, project_id: owner }) =>
    void (await jobs.add(placesOf(name), { [`${nounOf(name)}Id`]: id }, { key: id, owner }));

class NotWanted extends Error {}

class Run<Row extends TaskState, Task extends LockedTask<Row>, Result> implements RunningTask<Task> {
  readonly signal: AbortSignal;
  readonly #deps: EventDeps;
  readonly #kind: TaskKind<Row, Task, Result>;
  readonly #id: string;
  readonly #unwanted = new AbortController();
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: EventDeps, kind: TaskKind<Row, Task, Result>, { data, signal }: Job) {
    this.#deps = deps;
    this.#kind = kind;
    this.#id = (data as Readonly<Record<string, string>>)[`${nounOf(kind.name)}Id`] ?? "";
    this.signal = AbortSignal.any([signal, this.#unwanted.signal]);
  }

  async work(): Promise<void> {
    try {
      let row: Row | undefined;
      await this.change((task) => {
        row = task.row;
        return this.#kind.begin(task);
      });
      if (row) await this.#run(row);
    } catch (error) {
      if (!this.#unwanted.signal.aborted) throw error;
    }
  }

  async #run(row: Row): Promise<void> {
    const { log } = this.#deps;
    const task = { task: this.#kind.name, id: this.#id };
    let how: "completed" | "failed" = "completed";
    try {
      const result = await this.#kind.run(row, this);
      await this.change((locked, trx, at) => this.#kind.finish(locked, result, trx, at));
      log.info(task, "a task is completed");
    } catch (error) {
      if (this.signal.aborted) throw error;
      const isFinal = error instanceof TaskFailed && error.isFinal;
      if (!isFinal && (await this.#isWorthAnotherRun(error))) throw error;
      how = "failed";
      const reason = this.#sentenceOf(error).slice(0, MAX_SENTENCE);
      await this.change((locked) => locked.move("fail", { error: reason }));
      if (isFinal) log.info({ ...task, reason }, "a task failed");
      else log.warn({ ...task, reason, err: error }, "a task failed too often; it is given up");
    }
    await this.#kind
      .ended?.(row, how)
      .catch((error: unknown) => log.warn({ ...task, err: error }, "could not clean up after a task"));
  }

  readonly change = async (act: (task: Task, trx: Trx, at: number) => Promise<NewEvent[]>): Promise<void> => {
    const { db, clock, events } = this.#deps;
    await db.transaction().execute(async (trx) => {
      const at = clock.now();
      const task = await this.#kind.lock(trx, this.#id, at);
      if (!task) {
        this.#unwanted.abort(new NotWanted(`nobody wants the task ${this.#id} any more`));
        throw this.#unwanted.signal.reason;
      }
      await events.append(trx, await act(task, trx, at));
    });
  };

  readonly progressed = async (fraction: number): Promise<void> => {
    const now = this.#deps.clock.monotonic();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    await this.change(async (task) => {
      const before = task.row.progress;
      const progress = Math.max(before, Math.min(1, fraction));
      await task.write({ progress, error: null });
      return Math.floor(progress * EVENT_STEPS) > Math.floor(before * EVENT_STEPS) ? task.updated() : [];
    });
  };

  /** Counts the run that broke off, but not for a store or a database that was away, nor, for some, a disk: however long it is, the task is done when it is back. */
  async #isWorthAnotherRun(error: unknown): Promise<boolean> {
    if (this.#isAway(error)) return true;
    let runs = 0;
    await this.change(async (task) => {
      runs = task.row.broken_runs + 1;
      const shown = error instanceof RunFailed ? error.meanwhile : task.row.error;
      await task.write({ broken_runs: runs, error: shown });
      return shown === task.row.error ? [] : task.updated();
    });
    return runs < maxBrokenRuns(this.#kind.name);
  }

  #isAway(error: unknown): boolean {
    const waits = waitsForStorage(this.#kind.name);
    // Whatever the server's own store refuses is not the file's fault; but a file that it does not have is lost.
    if (error instanceof StoreFailed) return error.isTemporary || (waits && !error.isMissing);
    return error instanceof DatabaseAway || (waits && isDiskAway(error));
  }

  /** What the owner reads of a task that is given up. */
  #sentenceOf(error: unknown): string {
    const { name } = this.#kind;
    const noun = nounOf(name);
    if (error instanceof TaskFailed) return error.message;
    if (error instanceof ProcessingBroke)
      return `Processing failed ${maxBrokenRuns(name)} times: ${error.message}. Export the file again, or retry the ${noun}; the server's log has more.`;
    return `Processing broke off ${maxBrokenRuns(name)} times for a reason that is not the file's. The server's log has it; retry the ${noun} when that is mended.`;
  }
}
