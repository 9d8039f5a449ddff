import { sql } from "kysely";
import type { MediaControl } from "../../ports/index.ts";
import type { NewEvent } from "../events/index.ts";
import type { Trx } from "../schema.ts";
import { recordingEvent } from "./recording-event.ts";
import { nextRecordingStatus, type RecordingState } from "./recording-status.ts";

/** Running responses can finish, and an operator can still undo a mistake. */
export const GRACE_MS = 3_600_000;
/** Above this number, the media floor is told once to re-validate everything. */
const MAX_TOLD = 50;

export interface DeletedRecordings {
  readonly playbackIds: readonly string[];
  /** Events to append last in the transaction. */
  readonly events: readonly NewEvent[];
}

interface DeletableRow {
  id: string;
  stream_id: string;
  project_id: string;
  user_id: string;
  recording: RecordingState;
  recording_playback_id: string;
}

/**
 * Delete the recordings of these sessions, all of which have ended. They stop playing at once, and `purgeDeletedRecordings` deletes their bytes
 * later. The caller holds the locks of their streams. Sessions without a recording are skipped.
 */
export async function deleteRecordings(
  trx: Trx,
  sessionIds: readonly string[],
  now: number,
): Promise<DeletedRecordings> {
  const { rows } = await sql<DeletableRow>`
    select id, stream_id, project_id, user_id, recording, recording_playback_id from session
    where id = any(${sessionIds}::uuid[]) and recording not in ('none', 'deleted') order by id for update`.execute(trx);
  for (const { recording } of rows) nextRecordingStatus(recording, "delete");
  await sql`
    update session set recording = 'deleted', settle_at = null, purge_at = ${now + GRACE_MS}::bigint
    where id = any(${rows.map(({ id }) => id)}::uuid[])`.execute(trx);
  return {
    playbackIds: rows.map((row) => row.recording_playback_id),
    events: rows.map((row) => {
      const owner = { projectId: row.project_id, userId: row.user_id };
      return recordingEvent("recording.deleted", { streamId: row.stream_id, owner, sessionId: row.id, at: now });
    }),
  };
}

/** Make the media floor refuse viewers of deleted recordings at once, not only at its next query. */
export async function refuseViewers(
  mediaControl: Pick<MediaControl, "accessChanged">,
  playbackIds: readonly string[],
): Promise<void> {
  if (playbackIds.length > MAX_TOLD) return mediaControl.accessChanged("all");
  for (const playbackId of playbackIds) await mediaControl.accessChanged(playbackId);
}
