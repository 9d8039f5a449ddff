import type { WebhookEventName } from "@weir/contract";
import type { UpdateObject } from "kysely";
import { taskEvent } from "../assets/index.ts";
import type { NewEvent } from "../events/index.ts";
import type { Schema, TaskRow, Trx } from "../schema.ts";
import { nextTranscodePhase, type TranscodePhase, type TranscodeStep } from "./transcode-status.ts";

/** Move a locked task along its lifecycle. The events are to be appended last in the transaction. */
export async function moveTranscode(
  trx: Trx,
  task: TaskRow,
  step: TranscodeStep,
  { at, set = {} }: { readonly at: number; readonly set?: UpdateObject<Schema, "task"> },
): Promise<NewEvent[]> {
  const phase = nextTranscodePhase(task.phase as TranscodePhase, step);
  const progress = phase === task.phase ? task.progress : 0;
  await trx
    .updateTable("task")
    .set({ error: null, progress, ...set, phase, updated_at: at })
    .where("id", "=", task.id)
    .execute();
  const told: WebhookEventName[] = ["task.updated"];
  if (phase === "completed" || phase === "failed") told.push(`task.${phase}`);
  return told.map((event) => eventOf(task, event, at));
}

export const eventOf = (task: Pick<TaskRow, "id" | "project_id" | "user_id">, event: WebhookEventName, at: number) =>
  taskEvent({ ...task, task_id: task.id }, event, at);
