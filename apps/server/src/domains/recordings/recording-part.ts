import { sql } from "kysely";
import type { Db } from "../schema.ts";

const lastsMs = sql`s.duration_ticks * 1000.0 / (r.track->>'timescale')::float8`;

/** The source, or the sound of a stream without video. */
const leadOf = (sessionId: string) => sql`
  recording_segment s join recording_rendition r on r.session_id = s.session_id and r.rendition = s.rendition
  where s.session_id = ${sessionId} and not s.gap and s.rendition = (select rendition from recording_rendition
    where session_id = ${sessionId} order by rendition = 'source' desc, rendition limit 1)`;

/**
 * The program date-time of what a player shows `ms` after the begin of the recording: holes between segments take no time there. Behind its end,
 * as far behind the last segment's begin. Null for a recording without segments.
 */
export async function readRecordingMoment(db: Db, sessionId: string, ms: number): Promise<number | null> {
  const { rows } = await sql<{ moment: number }>`
    select at + ${ms}::float8 - (until - lasts) as moment from (
      select at, lasts, sum(lasts) over (order by msn) as until, row_number() over (order by msn desc) as from_end
      from (select s.msn, s.program_date_time::float8 as at, ${lastsMs} as lasts from ${leadOf(sessionId)}) lead
    ) passed where until > ${ms}::float8 or from_end = 1 order by from_end desc limit 1`.execute(db);
  return rows[0] ? Math.round(rows[0].moment) : null;
}

/** Media sequence numbers, both inclusive. */
export interface SegmentRange {
  readonly first: number;
  readonly last: number;
}

export interface RecordedRange extends SegmentRange {
  /** Program date-time of its end, in milliseconds since the epoch. */
  readonly endMs: number;
}

/**
 * The segments that show anything between two program date-times. Null if none does. Reads only these, and the one before them, by an index of times,
 * because the recording may be a day long.
 */
export async function findRecordedRange(
  db: Db,
  sessionId: string,
  fromMs: number,
  toMs: number,
): Promise<RecordedRange | null> {
  const { rows } = await sql<{ first: string | null; last: string | null; endMs: number | null }>`
    select min(s.msn) as first, max(s.msn) as last, max(s.program_date_time + ${lastsMs}) as "endMs" from ${leadOf(sessionId)}
      and s.program_date_time < ${toMs}::bigint and s.program_date_time + ${lastsMs} > ${fromMs}::float8
      and s.program_date_time >= coalesce((
        select s.program_date_time from ${leadOf(sessionId)} and s.program_date_time <= ${fromMs}::float8::bigint
        order by s.program_date_time desc limit 1), 0)`.execute(db);
  const [{ first, last, endMs } = { first: null, last: null, endMs: null }] = rows;
  return first === null || last === null ? null : { first: Number(first), last: Number(last), endMs: Number(endMs) };
}

/** Whether the object store lacks any segment of these. */
export async function hasUnsealed(db: Db, sessionId: string, { first, last }: SegmentRange): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from recording_segment r
      where r.session_id = ${sessionId} and r.msn between ${first} and ${last} and not r.gap and not exists (
        select from recording_span p
        where p.session_id = r.session_id and p.rendition = r.rendition and p.span = r.span)) as found`.execute(db);
  return rows[0]?.found === true;
}
