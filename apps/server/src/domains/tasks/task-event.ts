import type { TaskPhase, WebhookEventName } from "@weir/contract";
import type { NewEvent } from "../events/index.ts";
import { type Subject, taskSubject } from "../subject.ts";

export interface OwnedRow {
  readonly id: string;
  readonly project_id: string;
  readonly user_id: string;
}

/** A webhook event about a task or an asset. */
export function lifecycleEvent(
  subject: Subject,
  { project_id: projectId, user_id: userId }: Omit<OwnedRow, "id">,
  event: WebhookEventName,
  at: number,
): NewEvent {
  return {
    subject,
    owner: { projectId, userId },
    at,
    kind: "lifecycle",
    body: { type: "webhook_event", event, userId },
  };
}

export const taskEvent = (task: OwnedRow, event: WebhookEventName, at: number): NewEvent =>
  lifecycleEvent(taskSubject(task.id), task, event, at);

/** The events of a move to this phase. */
export function taskMoved(task: OwnedRow, phase: TaskPhase, at: number): NewEvent[] {
  const events: WebhookEventName[] = ["task.updated"];
  if (phase === "completed" || phase === "failed") events.push(`task.${phase}`);
  return events.map((event) => taskEvent(task, event, at));
}
