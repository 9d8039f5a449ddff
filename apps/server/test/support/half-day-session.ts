import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FragmentEditor } from "@weir/formats/mp4";
import pg from "pg";
import { expect } from "vitest";
import { openRunFolder } from "../../src/platform/data-folder.ts";
import { type Broadcast, startBroadcast } from "./broadcast.ts";
import type { WeirProcess } from "./weir-process.ts";

/** Real media, whose pictures are numbered from 0. */
export const ROUND_SECONDS = 60;
/** Of segments of 2 s. */
const ROUND_SEGMENTS = 30;
const RENDITIONS = ["source", "audio"];
const TIMELINE_TICKS_PER_SECOND = 90_000;
/** Longer than it takes to make the session. */
export const HALF_DAY_ENV = { WEIR_RECONNECT_WINDOW_MS: "300000" };

interface Row {
  readonly rendition: string;
  readonly msn: string;
  readonly epoch: string;
  readonly start_ticks: string;
  readonly duration_ticks: string;
  readonly span: string;
  readonly byte_offset: string;
  readonly byte_length: string;
  readonly timescale: number;
}

/**
 * A recorded session that began `hours` ago, and is live: a minute of real media, stored once for each minute at its time on the timeline. The server is
 * killed on it, and the broadcaster of `publish` continues it, so what is known of it was read from the index. It ends with the gap of that kill.
 */
export async function startHalfDaySession(weir: WeirProcess, hours = 12): Promise<Broadcast> {
  const rounds = hours * (3_600 / ROUND_SECONDS);
  const broadcast = await startBroadcast(weir, {
    ...{ seconds: 3_600, isNumbered: true, width: 320, height: 180, bitrateBps: 100_000 },
    stream: { record: true, dvr: "session", profiles: [] },
  });
  await broadcast.untilSegments(ROUND_SEGMENTS, 2 * ROUND_SECONDS * 1000);
  const [session] = await broadcast.sessions();
  await repeatRound(weir, session?.id ?? "", rounds, () => broadcast.publisher.kill());
  await weir.kill();
  await weir.restart();
  await broadcast.publish();
  await broadcast.untilState("live");
  // It is live as soon as the broadcaster is let in, and has a list with its first keyframe.
  const list = async () => (await fetch(`${broadcast.hlsUrl}?dvr=1`)).text();
  await expect.poll(list, { timeout: 30_000, interval: 200 }).toContain("#EXT-X-STREAM-INF");
  return broadcast;
}

/** `stopSource` is called when the first round is in the object store, half a minute after it has come: nothing may be recorded while its rows are written. */
async function repeatRound(
  weir: WeirProcess,
  sessionId: string,
  rounds: number,
  stopSource: () => Promise<void>,
): Promise<void> {
  const database = new pg.Client({ host: openRunFolder(weir.dataFolder), user: "weir", database: "postgres" });
  await database.connect();
  try {
    const rows = async () => (await database.query<Row>(STORED, [sessionId, ROUND_SEGMENTS])).rows;
    await expect.poll(async () => (await rows()).length, { timeout: 90_000, interval: 500 }).toBe(2 * ROUND_SEGMENTS);
    await stopSource();
    const stored = await rows();
    const folder = await folderOf(join(weir.dataFolder, "objects"), sessionId);
    const roundOf = (rendition: string) => stored.filter((row) => row.rendition === rendition);
    for (const rendition of RENDITIONS) await storeRounds(join(folder, rendition), roundOf(rendition), rounds);
    await database.query(LEAVE_OUT, [sessionId, ROUND_SEGMENTS]);
    for (const rendition of RENDITIONS) {
      const round = roundOf(rendition);
      await database.query(REPEAT, [sessionId, rendition, rounds, ROUND_SEGMENTS, ROUND_SECONDS, round[0]?.timescale]);
    }
    await database.query(SPANS, [sessionId]);
    await database.query(EARLIER, [sessionId, (rounds - 1) * ROUND_SECONDS * 1000]);
    const [first] = stored.filter(({ rendition }) => rendition === "source");
    const beginTicks = (Number(first?.start_ticks) / (first?.timescale ?? 1)) * TIMELINE_TICKS_PER_SECOND;
    const endTicks = beginTicks + rounds * ROUND_SECONDS * TIMELINE_TICKS_PER_SECOND;
    await database.query(POSITION, [sessionId, rounds * ROUND_SEGMENTS + 1, Math.round(endTicks)]);
  } finally {
    await database.end();
  }
}

/** Writes a span for each further round: the fragments of the first, later. */
async function storeRounds(folder: string, round: readonly Row[], rounds: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const segments = await Promise.all(
    round.map(async ({ span, byte_offset, byte_length }) => {
      const from = Number(byte_offset);
      return (await readFile(join(folder, span))).subarray(from, from + Number(byte_length));
    }),
  );
  for (let n = 1; n < rounds; n++) {
    let sequence = n * ROUND_SEGMENTS;
    const earlierTicks = -n * ROUND_SECONDS * (round[0]?.timescale ?? 0);
    const editor = new FragmentEditor(() => ({ sequence: sequence++, earlierTicks, prefix: new Uint8Array() }));
    const bytes = segments.flatMap((segment) => editor.push(Buffer.from(segment)));
    await writeFile(join(folder, spanOf(round[0], n)), Buffer.concat(bytes));
  }
}

function spanOf(first: Row | undefined, round: number): string {
  return `${first?.epoch}-${String(Number(first?.msn) + round * ROUND_SEGMENTS).padStart(10, "0")}.m4s`;
}

async function folderOf(objects: string, sessionId: string): Promise<string> {
  const found = (await readdir(objects, { recursive: true })).find((path) => path.endsWith(`${sessionId}/source`));
  if (!found) throw new Error(`no object of session ${sessionId} is stored`);
  return join(objects, found, "..");
}

/** The first round, once all of it is in the object store. */
const STORED = `
  select s.rendition, s.msn, s.epoch, s.start_ticks, s.duration_ticks, s.span, s.byte_offset, s.byte_length,
    (r.track->>'timescale')::int as timescale
  from recording_segment s
  join recording_span p using (session_id, rendition, span)
  join recording_rendition r using (session_id, rendition)
  where session_id = $1 and msn <= $2 and not gap order by rendition, msn`;
const LEAVE_OUT = "delete from recording_segment where session_id = $1 and msn > $2";
/** A segment ends where the next one begins, the last one of a round where the next round does. */
const REPEAT = `
  with round as (
    select *, coalesce(lead(start_ticks) over segments, first_value(start_ticks) over segments + $5::bigint * $6::bigint) - start_ticks as ticks,
      sum(byte_length) over segments - byte_length as round_offset
    from recording_segment where session_id = $1 and rendition = $2 and msn <= $4::int
    window segments as (order by msn)
  ), last as (update recording_segment s set duration_ticks = r.ticks from round r
    where s.session_id = r.session_id and s.rendition = r.rendition and s.msn = r.msn and r.msn = $4::int)
  insert into recording_segment (session_id, project_id, user_id, rendition, msn, epoch, start_ticks, duration_ticks,
    program_date_time, discontinuity, gap, init, span, byte_offset, byte_length, independent, keyframe_bytes)
  select session_id, project_id, user_id, rendition, msn + n * $4::int, epoch, start_ticks + n * $5::bigint * $6::bigint, ticks,
    program_date_time + n * $5::bigint * 1000, false, gap, init,
    epoch || '-' || lpad((1 + n * $4::int)::text, 10, '0') || '.m4s', round_offset, byte_length, independent, keyframe_bytes
  from round, generate_series(1, $3::int - 1) n`;
const SPANS = `
  insert into recording_span (session_id, project_id, user_id, rendition, span, epoch, bytes, sealed_at)
  select session_id, project_id, user_id, rendition, span, epoch, sum(byte_length), 0 from recording_segment
  where session_id = $1 group by 1, 2, 3, 4, 5, 6 on conflict do nothing`;
const EARLIER = `
  with moved as (update session set created_at = created_at - $2::bigint where id = $1)
  update recording_segment set program_date_time = program_date_time - $2::bigint where session_id = $1`;
const POSITION = "update session set next_msn = $2, end_ticks = $3 where id = $1";
