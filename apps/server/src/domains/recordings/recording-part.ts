import { type RawBuilder, sql } from "kysely";
import type { Db } from "../schema.ts";

/** Up to when a rendition of a recording is there, in milliseconds of program date-time. */
export interface RenditionProgress {
  readonly rendition: string;
  /** The end of its last complete segment; null before the first. */
  readonly closedUntilMs: number | null;
  /** The end of its last segment whose bytes are in the object store; null before the first. */
  readonly sealedUntilMs: number | null;
}

const lastsMs = sql`s.duration_ticks * 1000.0 / (r.track->>'timescale')::float8`;

/** One row for each rendition, however long the recording is. Sorted by name. */
export async function readRecordingProgress(db: Db, sessionId: string): Promise<RenditionProgress[]> {
  const endOfLast = (which: RawBuilder<boolean>) => sql`
    (select s.program_date_time + ${lastsMs} from recording_segment s
      where s.session_id = r.session_id and s.rendition = r.rendition and ${which} order by s.msn desc limit 1)`;
  const isSealed = sql<boolean>`(s.gap or exists (select 1 from recording_span p
    where p.session_id = s.session_id and p.rendition = s.rendition and p.span = s.span))`;
  const { rows } = await sql<RenditionProgress>`
    select r.rendition, ${endOfLast(sql`true`)} as "closedUntilMs", ${endOfLast(isSealed)} as "sealedUntilMs"
    from recording_rendition r where r.session_id = ${sessionId} order by r.rendition`.execute(db);
  return rows;
}

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

/** The segments that show anything between two program date-times. Null if none does. */
export async function findRecordedRange(
  db: Db,
  sessionId: string,
  fromMs: number,
  toMs: number,
): Promise<SegmentRange | null> {
  const { rows } = await sql<{ first: string | null; last: string | null }>`
    select min(s.msn) as first, max(s.msn) as last from ${leadOf(sessionId)}
      and s.program_date_time < ${toMs}::bigint and s.program_date_time + ${lastsMs} > ${fromMs}::float8`.execute(db);
  const [{ first, last } = { first: null, last: null }] = rows;
  return first === null || last === null ? null : { first: Number(first), last: Number(last) };
}
