import { sql } from "kysely";
import {
  type MediaIndex,
  recordingPrefix,
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
  return session && readIndex(db, session);
}

/** The durable segments of a part of a recording, which may still grow; null if the session has no recording, or no longer has one. */
export async function readSealedPart(db: Db, sessionId: string, range: SegmentRange): Promise<MediaIndex | null> {
  const session = await findRecording(db, sessionId, ["waiting", "ready"]);
  if (!session) return null;
  const { renditions, ...index } = await readIndex(db, session, range);
  return {
    ...index,
    renditions: renditions.map((rendition) => ({
      ...rendition,
      segments: rendition.segments.filter(({ gap, span }) => gap || rendition.spanBytes.has(span)),
    })),
  };
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

async function readIndex(
  db: Db,
  { id: sessionId, project_id: projectId }: RecordedSession,
  range: SegmentRange = ALL,
): Promise<MediaIndex> {
  const tracks = await db
    .selectFrom("recording_rendition")
    .select(["rendition", "track"])
    .where("session_id", "=", sessionId)
    .orderBy("rendition")
    .execute();
  const spans = await db
    .selectFrom("recording_span")
    .select(["rendition", "span", "bytes"])
    .where("session_id", "=", sessionId)
    .execute();
  const renditions: StoredRendition[] = [];
  for (const { rendition, track } of tracks) {
    const rows = await readSegments(db, sessionId, rendition, range);
    const source = renditions.find((each) => each.rendition === "source");
    const segments = source && source.track.timescale === track.timescale ? besides(source.segments, rows) : rows;
    if (!segments) continue;
    const sizes = spans
      .filter((row) => row.rendition === rendition)
      .map(({ span, bytes }) => [span, Number(bytes)] as const);
    renditions.push({ rendition, track, segments, spanBytes: new Map(sizes) });
  }
  return { id: sessionId, projectId, keyPrefix: recordingPrefix(projectId, sessionId), renditions };
}

/** If a kill cut the recording short, a rung lacks the segments that were not encoded yet. */
const MAX_MISSING_AT_END = 3;
const MAX_MISSING_PART_AT_END = 0.05;

/**
 * A rung's segments, with a gap for each segment of the source that it lacks, because their numbers must agree. It may end a little before the
 * source, because players cannot get past a gap at the end; null if it ends earlier, or has nothing: FFmpeg's reader stops at gaps alone.
 */
function besides(source: readonly StoredSegment[], rows: readonly StoredSegment[]): StoredSegment[] | null {
  const own = new Map(rows.filter(({ gap }) => !gap).map((row) => [row.msn, row]));
  const segments = source.map((segment) => {
    // Breaks belong to the timeline, and come from the source.
    const { discontinuity } = segment;
    const row = own.get(segment.msn);
    if (row) return { ...row, discontinuity };
    const { keyframeBytes: _, ...place } = segment;
    return { ...place, isIndependent: false, gap: true, init: "", span: "", offset: 0, length: 0 };
  });
  const count = segments.findLastIndex(({ gap }) => !gap) + 1;
  const isCutShort = source.length - count > Math.max(MAX_MISSING_AT_END, source.length * MAX_MISSING_PART_AT_END);
  return count === 0 || isCutShort ? null : segments.slice(0, count);
}

/** Rows read at once: a few milliseconds of the event loop. */
const PAGE = 1_000;

async function readSegments(
  db: Db,
  sessionId: string,
  rendition: string,
  range: SegmentRange,
): Promise<StoredSegment[]> {
  const segments: StoredSegment[] = [];
  for (;;) {
    const last = segments.at(-1)?.msn ?? range.first - 1;
    const { rows } = await sql<SegmentRow>`
      select msn, epoch, start_ticks, duration_ticks, program_date_time, discontinuity, gap, init, span, byte_offset, byte_length,
        independent, keyframe_bytes
      from recording_segment where session_id = ${sessionId} and rendition = ${rendition} and msn > ${last}
        and msn <= ${range.last}
      order by msn limit ${PAGE}`.execute(db);
    segments.push(...rows.map(segmentOf));
    if (rows.length < PAGE) return segments;
  }
}

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
