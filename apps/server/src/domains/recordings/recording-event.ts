import { type NewEvent, streamEvent } from "../events/index.ts";
import type { Owner } from "../schema.ts";

export interface RecordingMoment {
  readonly streamId: string;
  readonly owner: Owner;
  readonly sessionId: string;
  readonly at: number;
}

/** Events of a session's recording for webhooks: it starts, its session ended, it is ready, it is deleted. */
export function recordingEvent(
  event: "recording.started" | "recording.waiting" | "recording.ready" | "recording.deleted",
  { streamId, owner, sessionId, at }: RecordingMoment,
): NewEvent {
  const body = { type: "webhook_event", event, userId: owner.userId, sessionId } as const;
  return streamEvent({ id: streamId, owner }, at, "lifecycle", body);
}
