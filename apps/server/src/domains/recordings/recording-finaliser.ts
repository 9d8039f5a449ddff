import { sql } from "kysely";
import type { MediaControl } from "../../ports/index.ts";
import type { Duty } from "../duty.ts";
import type { EventDeps } from "../events/index.ts";
import { isGivenUp } from "../nodes/index.ts";
import type { Trx } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import { recordingEvent } from "./recording-event.ts";
import { judgeRecording, nextRecordingStatus } from "./recording-status.ts";

/** When to check again a recording that is not durable yet. */
const LOOK_AGAIN_MS = 5_000;
/** Nobody looked for so long: the database was away, or all servers were. */
const UNOBSERVED_MS = 60_000;
/** Every node that runs says within a minute what it has in its spool. */
const HEAR_FIRST_MS = 120_000;
const BATCH = 50;

export interface FinaliserDeps extends EventDeps, Pick<DomainConfig, "spoolWaitMs"> {
  readonly mediaControl: Pick<MediaControl, "accessChanged" | "measureRecording">;
}

interface WaitingRow {
  id: string;
  stream_id: string;
  project_id: string;
  user_id: string;
  recording_playback_id: string;
  ended_at: string;
  settle_at: string;
  spooled_at: string | null;
  recording_error: string | null;
  sealed: string;
  unsealed: string;
  lost: string;
  damaged: string;
  is_awaited: boolean;
  lost_node: string | null;
}

const waiting = (now: number) =>
  sql`from session where recording = 'waiting' and ended_at is not null and settle_at <= ${now}::bigint`;

/** Check every ended session whose recording is waiting and due: the recording becomes ready, fails with a reason, or is checked again later. */
export const settleRecordings: Duty<FinaliserDeps> = {
  what: "settle recordings",
  isDue: (now) => sql`exists (select ${waiting(now)})`,
  run: settle,
};

/** Owners of a session that are gone. One that left on its own has told everything; any may have segments that are not in the object store. */
const goneOwner = sql`from session_epoch e join node n on n.id = e.node_id and n.state = 'gone' where e.session_id = s.id`;

async function settle(deps: FinaliserDeps): Promise<void> {
  const { db, clock, log, events, mediaControl, spoolWaitMs } = deps;
  const now = clock.now();
  const { rows } = await sql<WaitingRow>`
    select s.id, s.stream_id, s.project_id, s.user_id, s.recording_playback_id, s.ended_at, s.settle_at, s.spooled_at, s.recording_error, g.sealed, g.unsealed, g.damaged,
      g.lost, (select min(n.name) ${goneOwner} and n.start_id is not null) as lost_node,
      exists (select ${goneOwner} and (n.start_id is not null or e.epoch = any(g.lost_epochs)) and not (${isGivenUp(sql.ref("n"), spoolWaitMs)}))
        as is_awaited
    from (select * ${waiting(now)} order by id limit ${BATCH}) s,
    lateral (
      select count(*) filter (where r.byte_offset + r.byte_length <= p.bytes) as sealed,
        count(*) filter (where p.span is null and l.epoch is null) as unsealed,
        count(*) filter (where p.span is null and l.epoch is not null) as lost,
        array_agg(distinct l.epoch) filter (where p.span is null) as lost_epochs,
        count(*) filter (where r.byte_offset + r.byte_length > p.bytes) as damaged
      from recording_segment r
      left join recording_span p on p.session_id = r.session_id and p.rendition = r.rendition and p.span = r.span
      left join (select e.epoch ${goneOwner}) l on l.epoch = r.epoch
      where r.session_id = s.id and not r.gap
    ) g`.execute(db);
  for (const row of rows) {
    const verdict = judgeRecording({
      sealedSegments: Number(row.sealed),
      unsealedSegments: Number(row.unsealed),
      lostSegments: Number(row.lost),
      hasFailed: row.recording_error !== null,
      isSpoolAwaited: row.is_awaited,
      waitedMs: now - Math.max(Number(row.ended_at), Number(row.spooled_at ?? 0)),
    });
    const isUnheard = verdict !== null && Number(row.unsealed) > 0 && now - Number(row.settle_at) > UNOBSERVED_MS;
    if (verdict === null || isUnheard) {
      await db
        .updateTable("session")
        .set({ settle_at: now + (isUnheard ? HEAR_FIRST_MS : LOOK_AGAIN_MS) })
        .where("id", "=", row.id)
        .execute();
      continue;
    }
    const recording = nextRecordingStatus("waiting", verdict);
    const reason = row.recording_error ?? reasonOf(row);
    await db.transaction().execute(async (trx) => {
      const changed = await trx
        .updateTable("session")
        .set({ recording, recording_error: reason, settle_at: null })
        .where("id", "=", row.id)
        .where("recording", "=", "waiting")
        .executeTakeFirst();
      if (changed.numUpdatedRows === 0n) return;
      await dropWhatIsNotDurable(trx, row.id);
      if (recording === "ready") {
        const owner = { projectId: row.project_id, userId: row.user_id };
        const moment = { streamId: row.stream_id, owner, sessionId: row.id, at: clock.now() };
        await events.append(trx, [recordingEvent("recording.ready", moment)]);
      }
      log.info({ sessionId: row.id, recording, ...(reason ? { reason } : {}) }, "recording finished");
    });
    // Earlier callers were told that there is nothing, and a receiver of the event may ask at once.
    if (recording !== "ready") continue;
    await mediaControl.accessChanged(row.recording_playback_id);
    await mediaControl.measureRecording({ kind: "recording", id: row.id, projectId: row.project_id });
  }
}

/** A segment whose bytes are missing from its span becomes a gap. A segment that no rendition has is not part of the recording. */
async function dropWhatIsNotDurable(trx: Trx, sessionId: string): Promise<void> {
  await sql`
    update recording_segment r set gap = true, init = '', span = '', byte_offset = 0, byte_length = 0
    where r.session_id = ${sessionId} and not r.gap and not exists (
      select 1 from recording_span p
      where p.session_id = r.session_id and p.rendition = r.rendition and p.span = r.span
        and r.byte_offset + r.byte_length <= p.bytes
    )`.execute(trx);
  await sql`
    delete from recording_segment r where r.session_id = ${sessionId} and not exists (
      select 1 from recording_segment o where o.session_id = r.session_id and o.msn = r.msn and not o.gap
    )`.execute(trx);
}

function reasonOf({ sealed, unsealed, lost, lost_node: node, damaged }: WaitingRow): string | null {
  if (node !== null)
    return `the server process ${node} was lost during the broadcast, and what only its disk has of the recording is missing`;
  if (Number(lost) > 0) return "part of the recording is on the disk of a server process that did not come back";
  if (Number(unsealed) > 0) return "part of the recording never reached the object store";
  if (Number(damaged) > 0)
    return "part of the recording is missing: it was damaged on the disk when the server stopped";
  return Number(sealed) > 0 ? null : "the broadcast ended before its first segment was complete";
}
