import pg from "pg";
import { openRunFolder } from "../../src/platform/data-folder.ts";
import { startBroadcast } from "./broadcast.ts";
import type { WeirProcess } from "./weir-process.ts";

export interface LongRecording {
  readonly playlist: string;
  readonly mp4: string;
  /** Path of a span with a few seconds of media. */
  readonly span: string;
}

/**
 * A recording of a few seconds whose rows repeat its last segment `segments` times, so it is arbitrarily long but quick to make. The server is
 * restarted on it, so that nothing about the short recording is cached.
 */
export async function recordLong(weir: WeirProcess, segments: number): Promise<LongRecording> {
  await using broadcast = await startBroadcast(weir, { seconds: 4, stream: { record: true, profiles: [] } });
  await broadcast.publisher.ended;
  const { id, recordingUrl, mp4Url } = await broadcast.recorded();
  const database = new pg.Client({ host: openRunFolder(weir.dataFolder), user: "weir", database: "postgres" });
  await database.connect();
  try {
    await database.query(REPEAT, [id, segments]);
    const { rows } = await database.query<{ span: string }>(SPAN, [id]);
    const folder = new URL(`s/-/${id}/source/`, recordingUrl).pathname;
    return { playlist: `${folder}index.m3u8`, mp4: new URL(mp4Url).pathname, span: `${folder}${rows[0]?.span}` };
  } finally {
    await database.end();
    await weir.stop();
    await weir.restart();
  }
}

const SPAN = "select span from recording_span where session_id = $1 and rendition = 'source' limit 1";
const REPEAT = `
  insert into recording_segment (session_id, project_id, user_id, rendition, msn, epoch, start_ticks, duration_ticks,
    program_date_time, discontinuity, gap, init, span, byte_offset, byte_length)
  select session_id, project_id, user_id, rendition, msn + n, epoch, start_ticks + n * duration_ticks, duration_ticks,
    program_date_time + n * 2000, false, gap, init, span, byte_offset, byte_length
  from (select distinct on (rendition) * from recording_segment where session_id = $1 and not gap order by rendition, msn desc) last,
    generate_series(1, $2::int - 1) n`;
