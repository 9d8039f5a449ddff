import { sql } from "kysely";
import {
  type MediaIndex,
  recordingPrefix,
  type SealedSegments,
  type StoredRendition,
  type StoredSegment,
  type StoredTrack,
} from "../../ports/index.ts";
import type { Db } from "../schema.ts";
import type { SegmentRange } from "./recording-part.ts";

interface SegmentRow {
  msn: string;
  epoch: string;
  start_ticks: string;
  duration_ticks: string;
  program_date_time: string;
  discontinuity: boolean;
  gap: boolean;
  init: string;
  span: string;
  byte_offset: string;
  byte_length: string;
  independent: boolean | null;
  keyframe_bytes: number | null;
}

/** The index of a ready recording; null otherwise. The gate has already checked the viewer's access. */
export async function readRecordingIndex(db: Db, sessionId: string): Promise<MediaIndex | null> {
  const session = await findRecording(db, sessionId, ["ready"]);
  return session && readIndex(db, session, { range: ALL, isSealed: false });
}

/** The durable segments of a part of a recording, which may still grow; null if the session has no recording, or no longer has one. */
export async function readSealedPart(db: Db, sessionId: string, range: SegmentRange): Promise<MediaIndex | null> {
  const session = await findRecording(db, sessionId, ["waiting", "ready"]);
  return session && readIndex(db, session, { range, isSealed: true });
}

/** All of them, some at a time. Nothing if the session has no recording. */
export async function* readSealedSegments(db: Db, sessionId: string): AsyncGenerator<SealedSegments, void> {
  const session = await findRecording(db, sessionId, ["waiting", "ready"]);
  if (session) yield* readSegments(db, session, { range: ALL, isSealed: true });
}

interface RecordedSession {
  readonly id: string;
  readonly project_id: string;
}

async function findRecording(
  db: Db,
  sessionId: string,
  states: readonly ("waiting" | "ready")[],
): Promise<RecordedSession | null> {
  const found = await db
    .selectFrom("session")
    .select(["id", "project_id"])
    .where("id", "=", sessionId)
    .where("recording", "in", states)
    .executeTakeFirst();
  return found ?? null;
}

const ALL: SegmentRange = { first: 0, last: Number.MAX_SAFE_INTEGER };

interface Selection {
  readonly range: SegmentRange;
  /** Only what the object store has. */
  readonly isSealed: boolean;
}

async function readIndex(db: Db, session: RecordedSession, selection: Selection): Promise<MediaIndex> {
  const { id, project_id: projectId } = session;
  const spans = await db
    .selectFrom("recording_span")
    .select(["rendition", "span", "bytes"])
    .where("session_id", "=", id)
    .execute();
  const renditions = new Map<string, StoredRendition & { readonly segments: StoredSegment[] }>();
  for await (const { rendition, track, segments } of readSegments(db, session, selection)) {
    const sizes = spans
      .filter((row) => row.rendition === rendition)
      .map(({ span, bytes }) => [span, Number(bytes)] as const);
    const read = renditions.get(rendition) ?? { rendition, track, segments: [], spanBytes: new Map(sizes) };
    read.segments.push(...segments);
    renditions.set(rendition, read);
  }
  return { id, projectId, keyPrefix: recordingPrefix(projectId, id), renditions: [...renditions.values()] };
}

/** Each rendition in order, with what it needs to be shown beside the source. At least once, also without segments. */
async function* readSegments(
  db: Db,
  { id: sessionId }: RecordedSession,
  { range, isSealed }: Selection,
): AsyncGenerator<SealedSegments, void> {
  const tracks = await db
    .selectFrom("recording_rendition")
    .select(["rendition", "track"])
    .where("session_id", "=", sessionId)
    .orderBy("rendition")
    .execute();
  const source = tracks.find(({ rendition }) => rendition === "source");
  for (const { rendition, track } of tracks) {
    const isRung = rendition !== "source" && track.kind === "video" && source?.track.timescale === track.timescale;
    const last = isRung ? await endOfRung({ db, sessionId, rendition, ...range }) : range.last;
    if (last === null) continue;
    const numbers = { db, sessionId, rendition: isRung ? "source" : rendition };
    let first = await nextOf({ ...numbers, first: range.first, last });
    if (first === null) yield { rendition, track, segments: [] };
    while (first !== null) {
      const end = Math.min(first + PAGE - 1, last);
      const page = { db, sessionId, rendition, isSealed, first, last: end };
      const rows = await (isRung ? pageOfRung(page) : pageOfRendition(page));
      yield { rendition, track, segments: rows.map(segmentOf) };
      first = await nextOf({ ...numbers, first: end + 1, last });
    }
  }
}

/** If a kill cut the recording short, a rung lacks the segments that were not encoded yet. */
const MAX_MISSING_AT_END = 3;
const MAX_MISSING_PART_AT_END = 0.05;

/**
 * The number of a rung's last segment. It may end a little before the source, because players cannot get past a gap at the end; null if it ends earlier, or
 * has nothing: FFmpeg's reader stops at gaps alone.
 */
async function endOfRung({ db, sessionId, rendition, first, last }: Rows): Promise<number | null> {
  const found = await sql<{ msn: string }>`
    select r.msn from recording_segment r
    where r.session_id = ${sessionId} and r.rendition = ${rendition} and not r.gap and r.msn between ${first} and ${last}
      and exists (select from recording_segment s where s.session_id = r.session_id and s.rendition = 'source' and s.msn = r.msn)
    order by r.msn desc limit 1`.execute(db);
  const [{ msn: end } = { msn: null }] = found.rows;
  if (end === null) return null;
  const { rows } = await sql<{ count: string; missing: string }>`
    select count(*), count(*) filter (where msn > ${end}) as missing from recording_segment
    where session_id = ${sessionId} and rendition = 'source' and msn between ${first} and ${last}`.execute(db);
  const [{ count, missing } = { count: "0", missing: "0" }] = rows;
  const isCutShort = Number(missing) > Math.max(MAX_MISSING_AT_END, Number(count) * MAX_MISSING_PART_AT_END);
  return isCutShort ? null : Number(end);
}

/** Numbers read at once: a millisecond of the event loop. A limit on rows would let a database without statistics join the whole day for each page. */
const PAGE = 250;

interface Rows extends SegmentRange {
  readonly db: Db;
  readonly sessionId: string;
  readonly rendition: string;
}

/** The first number of a rendition in the range: a session that moved to another node lacks a day of them. */
async function nextOf({ db, sessionId, rendition, first, last }: Rows): Promise<number | null> {
  const { rows } = await sql<{ msn: string | null }>`
    select min(msn) as msn from recording_segment
    where session_id = ${sessionId} and rendition = ${rendition} and msn between ${first} and ${last}`.execute(db);
  return rows[0]?.msn ? Number(rows[0].msn) : null;
}

type Page = Rows & Pick<Selection, "isSealed">;

async function pageOfRendition({
  db,
  sessionId,
  rendition,
  isSealed,
  first,
  last,
}: Page): Promise<readonly SegmentRow[]> {
  const { rows } = await sql<SegmentRow>`
    select msn, epoch, start_ticks, duration_ticks, program_date_time, discontinuity, gap, init, span, byte_offset, byte_length,
      independent, keyframe_bytes
    from recording_segment r where session_id = ${sessionId} and rendition = ${rendition} and msn between ${first} and ${last}
      and (not ${isSealed}::boolean or gap or ${IS_SEALED}) order by msn`.execute(db);
  return rows;
}

/**
 * The segments of the source as the rung has them, with a gap for each that it lacks, because their numbers must agree. Breaks belong to the timeline, and
 * come from the source.
 */
async function pageOfRung({ db, sessionId, rendition, isSealed, first, last }: Page): Promise<readonly SegmentRow[]> {
  const { rows } = await sql<SegmentRow>`
    select s.msn, s.discontinuity, r.msn is null as gap,
      coalesce(r.epoch, s.epoch) as epoch, coalesce(r.start_ticks, s.start_ticks) as start_ticks,
      coalesce(r.duration_ticks, s.duration_ticks) as duration_ticks,
      coalesce(r.program_date_time, s.program_date_time) as program_date_time, coalesce(r.init, '') as init,
      coalesce(r.span, '') as span, coalesce(r.byte_offset, 0) as byte_offset, coalesce(r.byte_length, 0) as byte_length,
      case when r.msn is null then false else r.independent end as independent, r.keyframe_bytes
    from recording_segment s left join recording_segment r
      on r.session_id = s.session_id and r.rendition = ${rendition} and r.msn = s.msn and not r.gap
        and r.msn between ${first} and ${last}
    where s.session_id = ${sessionId} and s.rendition = 'source' and s.msn between ${first} and ${last}
      and (not ${isSealed}::boolean or r.msn is null or ${IS_SEALED}) order by s.msn`.execute(db);
  return rows;
}

/** Of a row `r`: the object store has its bytes. */
const IS_SEALED = sql<boolean>`exists (
  select from recording_span p where p.session_id = r.session_id and p.rendition = r.rendition and p.span = r.span)`;

function segmentOf(row: SegmentRow): StoredSegment {
  return {
    msn: Number(row.msn),
    epoch: Number(row.epoch),
    startTicks: Number(row.start_ticks),
    durationTicks: Number(row.duration_ticks),
    programDateTimeMs: Number(row.program_date_time),
    discontinuity: row.discontinuity,
    gap: row.gap,
    ...(row.independent !== null && { isIndependent: row.independent }),
    ...(row.keyframe_bytes !== null && { keyframeBytes: row.keyframe_bytes }),
    init: row.init,
    span: row.span,
    offset: Number(row.byte_offset),
    length: Number(row.byte_length),
  };
}

/** The media floor has laid out the recording as one MP4. */
export async function recordMp4Size(db: Db, sessionId: string, bytes: number): Promise<void> {
  await db
    .updateTable("session")
    .set({ mp4_bytes: bytes })
    .where("id", "=", sessionId)
    .where(sql<boolean>`mp4_bytes is distinct from ${bytes}::bigint`)
    .execute();
}

/** By the id of its session. */
export interface NewestRecording {
  readonly id: string;
  readonly projectId: string;
}

/** The newest recording of a stream that plays and has pictures. */
export async function findNewestRecording(db: Db, streamId: string): Promise<NewestRecording | undefined> {
  const { rows } = await sql<NewestRecording>`
    select e.id, e.project_id as "projectId" from session e
    where e.stream_id = ${streamId} and e.recording = 'ready' and exists (
      select from recording_rendition r where r.session_id = e.id and r.rendition = 'source' and r.track ? 'width'
    ) order by e.created_at desc limit 1`.execute(db);
  return rows[0];
}

/** A recording that viewers of its stream may go back in, and how far from its end, in seconds. */
export interface RewindableRecording extends NewestRecording {
  readonly dvrSeconds: number;
}

/** Of one session of the stream, or of its newest with a recording. */
export async function findRewindable(
  db: Db,
  streamId: string,
  sessionId: string | null,
): Promise<RewindableRecording | undefined> {
  const { rows } = await sql<RewindableRecording>`
    select e.id, e.project_id as "projectId", e.dvr_seconds as "dvrSeconds" from session e
    where e.stream_id = ${streamId} and e.recording = 'ready' and e.dvr_seconds is not null
      and (${sessionId}::uuid is null or e.id = ${sessionId}::uuid)
    order by e.created_at desc limit 1`.execute(db);
  return rows[0];
}

/** A recording's MP4 in a playback response: picture size, and mean bitrate in bits per second. */
export interface RecordingShape {
  readonly width?: number;
  readonly height?: number;
  readonly bitrate?: number;
}

export async function readRecordingShape(db: Db, sessionId: string, seconds: number): Promise<RecordingShape> {
  const { rows } = await sql<{ track: StoredTrack; bytes: string }>`
    select track, (select coalesce(sum(bytes), 0) from recording_span p where p.session_id = r.session_id
      and p.rendition in ('source', 'audio')) as bytes
    from recording_rendition r where session_id = ${sessionId} and rendition = 'source'`.execute(db);
  const [row] = rows;
  if (!row) return {};
  const { width, height } = row.track;
  return {
    ...(width && height ? { width, height } : {}),
    ...(seconds > 0 ? { bitrate: Math.round((Number(row.bytes) * 8) / seconds) } : {}),
  };
}
