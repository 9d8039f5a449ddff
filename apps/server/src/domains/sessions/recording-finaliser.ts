import { sql } from "kysely";
import type { MediaControl } from "../../ports.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import { recordingEvent } from "./recording-event.ts";
import { judgeRecording, nextRecordingStatus } from "./recording-status.ts";

/** When to look again at a recording that is not durable yet. */
const LOOK_AGAIN_MS = 5_000;
const BATCH = 50;

export interface FinaliserDeps extends Deps {
  readonly events: EventLog;
  readonly mediaControl: Pick<MediaControl, "accessChanged">;
}

interface WaitingRow {
  id: string;
  stream_id: string;
  project_id: string;
  user_id: string;
  recording_playback_id: string;
  ended_at: string;
  recording_error: string | null;
  sealed: string;
  unsealed: string;
}

/** Look at every ended session whose recording waits and is due: it becomes ready, failed with a reason, or is looked at again later. */
export async function settleRecordings({ db, clock, log, events, mediaControl }: FinaliserDeps): Promise<void> {
  const now = clock.now();
  const { rows } = await sql<WaitingRow>`
    select s.id, s.stream_id, s.project_id, s.user_id, s.recording_playback_id, s.ended_at, s.recording_error, g.sealed, g.unsealed
    from (select * from session where recording = 'waiting' and ended_at is not null and settle_at <= ${now}::bigint
      order by id limit ${BATCH}) s,
    lateral (
      select count(*) filter (where p.span is not null) as sealed, count(*) filter (where p.span is null) as unsealed
      from recording_segment r
      left join recording_span p on p.session_id = r.session_id and p.rendition = r.rendition and p.span = r.span
      where r.session_id = s.id and not r.gap
    ) g`.execute(db);
  for (const row of rows) {
    const verdict = judgeRecording({
      sealedSegments: Number(row.sealed),
      unsealedSegments: Number(row.unsealed),
      hasFailed: row.recording_error !== null,
      endedForMs: now - Number(row.ended_at),
    });
    if (verdict === null) {
      await db
        .updateTable("session")
        .set({ settle_at: now + LOOK_AGAIN_MS })
        .where("id", "=", row.id)
        .execute();
      continue;
    }
    const recording = nextRecordingStatus("waiting", verdict);
    const reason = row.recording_error ?? reasonOf(Number(row.sealed), Number(row.unsealed));
    await db.transaction().execute(async (trx) => {
      const changed = await trx
        .updateTable("session")
        .set({ recording, recording_error: reason, settle_at: null })
        .where("id", "=", row.id)
        .where("recording", "=", "waiting")
        .executeTakeFirst();
      if (changed.numUpdatedRows === 0n) return;
      // What never became durable is no part of the recording.
      await sql`
        delete from recording_segment r where r.session_id = ${row.id} and not r.gap and not exists (
          select 1 from recording_span p where p.session_id = r.session_id and p.rendition = r.rendition and p.span = r.span
        )`.execute(trx);
      if (recording === "ready") {
        const owner = { projectId: row.project_id, userId: row.user_id };
        const moment = { streamId: row.stream_id, owner, sessionId: row.id, at: clock.now() };
        await events.append(trx, [recordingEvent("recording.ready", moment)]);
      }
      log.info({ sessionId: row.id, recording, ...(reason ? { reason } : {}) }, "a recording is settled");
    });
    // Who asked for it a moment ago was told that there is nothing, and whoever hears of the event may ask at once.
    if (recording === "ready") await mediaControl.accessChanged(row.recording_playback_id);
  }
}

function reasonOf(sealed: number, unsealed: number): string | null {
  if (unsealed > 0) return "part of the recording never reached the object store";
  return sealed > 0 ? null : "the broadcast ended before its first segment was complete";
}
