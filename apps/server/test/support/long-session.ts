import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { openRunFolder } from "../../src/platform/data-folder.ts";

/** Of the segments that are repeated. */
const SEGMENT_MS = 2_000;
const TICKS_PER_MS = 90;
const STORED_WITHIN_MS = 60_000;

/**
 * Puts `segments` segments before what a recorded session has, so that it seems to have begun hours ago: each rendition's last stored segment of two
 * seconds, again and again. Nobody may publish meanwhile, and the session must be open. The next publisher goes on with it.
 */
export async function makeLonger(dataFolder: string, sessionId: string, segments: number): Promise<void> {
  const database = new pg.Client({ host: openRunFolder(dataFolder), user: "weir", database: "postgres" });
  await database.connect();
  try {
    await untilStored(database, sessionId);
    await database.query(MOVE, [sessionId, segments, segments * SEGMENT_MS * TICKS_PER_MS]);
    const { rowCount } = await database.query(REPEAT, [sessionId, segments, SEGMENT_MS]);
    if (!rowCount) throw new Error(`session ${sessionId} has no stored segment`);
    await database.query(POSITION, [sessionId, segments, segments * SEGMENT_MS * TICKS_PER_MS]);
  } finally {
    await database.end();
  }
}

/** A server that has just started stores what a kill or a stop left in its spool. */
async function untilStored(database: pg.Client, sessionId: string): Promise<void> {
  for (const deadline = performance.now() + STORED_WITHIN_MS; performance.now() < deadline; await wait(100)) {
    const { rows } = await database.query<{ stored: boolean }>(STORED, [sessionId]);
    if (rows[0]?.stored) return;
  }
  throw new Error(`session ${sessionId} is not in the object store`);
}

const STORED = `
  select bool_and(exists (select from recording_span p where p.session_id = s.session_id and p.rendition = s.rendition and p.span = s.span)) as stored
  from recording_segment s where s.session_id = $1 and not s.gap`;
// In two steps: a number may not be there twice.
const MOVE = `
  with moved as (delete from recording_segment where session_id = $1 returning *)
  insert into recording_segment
  select (jsonb_populate_record(null::recording_segment, to_jsonb(m) || jsonb_build_object('msn', m.msn + $2::int, 'start_ticks', m.start_ticks + $3::bigint))).*
  from moved m`;
const REPEAT = `
  insert into recording_segment
  select (jsonb_populate_record(null::recording_segment, to_jsonb(last) || jsonb_build_object('msn', n, 'discontinuity', false,
    'start_ticks', last.start_ticks - (last.msn - n) * last.duration_ticks, 'program_date_time', last.program_date_time - (last.msn - n) * $3::int))).*
  from (select distinct on (rendition) * from recording_segment where session_id = $1 and not gap order by rendition, msn desc) last,
    generate_series(1, $2::int) n`;
const POSITION = "update session set next_msn = next_msn + $2::int, end_ticks = end_ticks + $3::bigint where id = $1";
