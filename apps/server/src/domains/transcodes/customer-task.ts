import type { UpdateObject } from "kysely";
import type { NewEvent } from "../events/index.ts";
import type { Schema, TaskRow, TranscodeRow, Trx } from "../schema.ts";
import {
  isInWork,
  type LockedTask,
  nextTaskPhase,
  type TaskKind,
  type TaskStep,
  taskEvent,
  taskMoved,
} from "../tasks/index.ts";
import { type CustomerTaskType, lockTranscode } from "./transcode-store.ts";

type TaskColumns = UpdateObject<Schema, "task">;

/** A task between this server and a customer's host, with its request. */
export type CustomerTaskRow = TaskRow & Pick<TranscodeRow, "request" | "attempt" | "broken_runs">;
export type CustomerTask<Result> = TaskKind<CustomerTaskRow, LockedTask<CustomerTaskRow>, Result>;

/** Move a locked task along its lifecycle. Append the events last in the transaction. */
export async function moveTask(
  trx: Trx,
  task: TaskRow,
  step: TaskStep,
  { at, set = {} }: { readonly at: number; readonly set?: TaskColumns },
): Promise<NewEvent[]> {
  const phase = nextTaskPhase(task.phase, step);
  await trx
    .updateTable("task")
    .set({ error: null, progress: phase === task.phase ? task.progress : 0, ...set, phase, updated_at: at })
    .where("id", "=", task.id)
    .execute();
  return taskMoved(task, phase, at);
}

export interface CustomerTaskParts<Result> extends Pick<CustomerTask<Result>, "run" | "ended"> {
  /** Resolves to the task's output as JSON; null for none. */
  output(row: CustomerTaskRow, result: Result, trx: Trx, at: number): Promise<string | null>;
}

export function customerTask<Result>(
  name: CustomerTaskType,
  { output, ...parts }: CustomerTaskParts<Result>,
): CustomerTask<Result> {
  return {
    ...parts,
    name,
    async lock(trx, id, at) {
      const found = await lockTranscode(trx, id);
      if (!found?.transcode || !isInWork(found.task.phase)) return null;
      return lockedTask(trx, { ...found.transcode, ...found.task }, at);
    },
    begin: (task) => task.move("begin"),
    async finish({ row }, result, trx, at) {
      const made = await output(row, result, trx, at);
      await trx.deleteFrom("transcode").where("id", "=", row.id).execute();
      return moveTask(trx, row, "finish", { at, set: { progress: 1, output: made } });
    },
  };
}

function lockedTask(trx: Trx, row: CustomerTaskRow, at: number): LockedTask<CustomerTaskRow> {
  return {
    row,
    async write({ broken_runs, ...set }) {
      await trx
        .updateTable("task")
        .set({ ...set, updated_at: at })
        .where("id", "=", row.id)
        .execute();
      if (broken_runs !== undefined)
        await trx.updateTable("transcode").set({ broken_runs }).where("id", "=", row.id).execute();
    },
    move: (step, set) => moveTask(trx, row, step, { at, ...(set && { set }) }),
    updated: () => [taskEvent(row, "task.updated", at)],
  };
}
