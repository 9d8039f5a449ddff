import { type RawBuilder, sql } from "kysely";
import type {
  RecordedSegment,
  RecordingFailed,
  RecordingSpooled,
  RungsRecorded,
  SegmentClosed,
  SpanSealed,
} from "../../ports/index.ts";
import type { Trx } from "../schema.ts";

/**
 * A session's later owner on another node fences what an earlier one goes on to make: its segments that begin after the later one did, or have its
 * numbers. What it made before counts, however late it is told.
 */
const isFenced = (began: RawBuilder<unknown>, msn: RawBuilder<unknown>) => sql`exists (
  select from session_epoch e left join session_epoch o on o.session_id = f.session_id and o.epoch = f.epoch
  where e.session_id = f.session_id and e.epoch > f.epoch and e.node_id is distinct from o.node_id
    and (e.began_at <= ${began} or e.first_msn <= ${msn}))`;

/**
 * Write the index rows of recorded segments, and return the keys (`sessionId/msn`) of new segments. A row reported twice, as after a crash, is
 * ignored, and so is a row of a final recording, and one of an owner that was replaced before.
 */
export async function insertRecordedSegments(
  trx: Trx,
  facts: readonly (SegmentClosed | RungsRecorded)[],
): Promise<Set<string>> {
  const rows = facts.flatMap(({ sessionId, at, recorded }) =>
    recorded.map((segment) => ({ sessionId, at, ...segment })),
  );
  if (rows.length === 0) return new Set();
  const column = <Value>(value: (row: (typeof rows)[number]) => Value) => rows.map(value);
  const sessionIds = column((row) => row.sessionId);
  const renditions = column((row) => row.rendition);
  await sql`
    insert into recording_rendition (session_id, project_id, user_id, rendition, track)
    select distinct on (s.id, f.rendition) s.id, s.project_id, s.user_id, f.rendition, f.track::jsonb
    from unnest(${sessionIds}::uuid[], ${renditions}::text[], ${column((row) => JSON.stringify(row.track))}::text[])
      as f(session_id, rendition, track)
    join session s on s.id = f.session_id and s.recording = 'waiting'
    on conflict do nothing`.execute(trx);
  const { rows: inserted } = await sql<{ session_id: string; msn: string }>`
    insert into recording_segment (session_id, project_id, user_id, rendition, msn, epoch, start_ticks, duration_ticks,
      program_date_time, discontinuity, gap, init, span, byte_offset, byte_length, independent, keyframe_bytes)
    select s.id, s.project_id, s.user_id, f.rendition, f.msn, f.epoch, f.start_ticks, f.duration_ticks,
      f.program_date_time, f.discontinuity, f.gap, f.init, f.span, f.byte_offset, f.byte_length,
      f.independent, f.keyframe_bytes
    from unnest(${sessionIds}::uuid[], ${renditions}::text[], ${column((row) => row.msn)}::bigint[],
      ${column((row) => row.epoch)}::bigint[], ${column((row) => row.startTicks)}::bigint[],
      ${column((row) => row.durationTicks)}::bigint[], ${column((row) => Math.round(row.programDateTimeMs))}::bigint[],
      ${column((row) => row.discontinuity)}::boolean[], ${column((row) => row.gap)}::boolean[],
      ${column((row) => row.init)}::text[], ${column((row) => row.span)}::text[],
      ${column((row) => row.offset)}::bigint[], ${column((row) => row.length)}::bigint[],
      ${column((row) => row.isIndependent ?? null)}::boolean[],
      ${column((row) => row.keyframeBytes ?? null)}::integer[], ${column(beganAt)}::bigint[])
      as f(session_id, rendition, msn, epoch, start_ticks, duration_ticks, program_date_time, discontinuity, gap, init, span,
        byte_offset, byte_length, independent, keyframe_bytes, began_at)
    join session s on s.id = f.session_id and s.recording = 'waiting'
    where not ${isFenced(sql`f.began_at`, sql`f.msn`)}
    on conflict do nothing returning session_id, msn`.execute(trx);
  return new Set(inserted.map((row) => `${row.session_id}/${row.msn}`));
}

/** When a segment began to arrive: of a sender ahead of real time, its program date-time is later. */
function beganAt({ at, programDateTimeMs, durationTicks, track }: RecordedSegment & { readonly at: number }): number {
  return Math.round(Math.min(programDateTimeMs, at - (durationTicks * 1000) / track.timescale));
}

/** Spans that are now durable. */
export async function insertSealedSpans(trx: Trx, facts: readonly SpanSealed[]): Promise<void> {
  if (facts.length === 0) return;
  const column = <Value>(value: (fact: SpanSealed) => Value) => facts.map(value);
  await sql`
    insert into recording_span (session_id, project_id, user_id, rendition, span, epoch, bytes, sealed_at)
    select s.id, s.project_id, s.user_id, f.rendition, f.span, f.epoch, f.bytes, f.sealed_at
    from unnest(${column((fact) => fact.sessionId)}::uuid[], ${column((fact) => fact.rendition)}::text[],
      ${column((fact) => fact.span)}::text[], ${column((fact) => fact.epoch)}::bigint[],
      ${column((fact) => fact.bytes)}::bigint[], ${column((fact) => fact.at)}::bigint[])
      as f(session_id, rendition, span, epoch, bytes, sealed_at)
    join session s on s.id = f.session_id and s.recording = 'waiting'
    on conflict do nothing`.execute(trx);
  // Nobody needs the spans of a recording that was deleted in the meantime.
  await sql`
    update session set purge_at = ${Math.max(...column((fact) => fact.at))}::bigint
    where id = any(${column((fact) => fact.sessionId)}::uuid[]) and recording = 'deleted'`.execute(trx);
}

/** Part of the recording is missing. The first reason stays. */
export async function noteFailedRecordings(trx: Trx, facts: readonly RecordingFailed[]): Promise<void> {
  for (const { sessionId, epoch, at, reason } of facts) {
    await sql`
      update session s set recording_error = ${reason}
      from (select ${sessionId}::uuid as session_id, ${epoch}::bigint as epoch) f
      where s.id = f.session_id and s.recording = 'waiting' and s.recording_error is null
        and not ${isFenced(sql`${at}::bigint`, sql`0`)}`.execute(trx);
  }
}

/** Parts of these recordings are not in the object store yet. */
export async function noteSpooledRecordings(trx: Trx, facts: readonly RecordingSpooled[]): Promise<void> {
  if (facts.length === 0) return;
  await sql`
    update session s set spooled_at = greatest(s.spooled_at, f.at)
    from (
      select id, max(at) as at from unnest(${facts.map(({ sessionId }) => sessionId)}::uuid[], ${facts.map(({ at }) => at)}::bigint[])
        as told(id, at) group by id
    ) f where s.id = f.id and s.recording = 'waiting'`.execute(trx);
}
