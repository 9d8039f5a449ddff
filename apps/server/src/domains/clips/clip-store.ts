import type { PlaybackPolicy } from "@weir/contract";
import { type RawBuilder, sql } from "kysely";
import { countRows, hasRows } from "../api/index.ts";
import { isId, isPlaybackId } from "../ids.ts";
import type { AssetRow, Db, Owner, SessionRow, Trx } from "../schema.ts";

/** What a clip can be cut from. */
export interface ClipParent {
  readonly kind: "session" | "asset";
  readonly id: string;
  readonly streamId: string | null;
  readonly playbackId: string;
  readonly policy: PlaybackPolicy | null;
  readonly creatorId: string | null;
  /** Milliseconds since the Unix epoch; null for an asset. */
  readonly beganAt: number | null;
  /** Null if there is nothing to cut: the session is over and was not recorded, or the asset does not play yet. */
  readonly cutFrom: "recording" | "live-window" | "asset" | null;
}

interface ParentRow extends Omit<ClipParent, "beganAt"> {
  readonly beganAt: string | null;
}

/** Newest first. */
const MAX_LISTED = 1_000;

const session = sql`
  select 'session' as kind, e.id, e.stream_id as "streamId", s.playback_id as "playbackId", s.playback_policy as policy,
    s.creator_id as "creatorId", e.created_at as "beganAt", 
    case when e.recording in ('waiting', 'ready') then 'recording'
      when e.recording = 'none' and e.ended_at is null then 'live-window' end as "cutFrom"
  from session e join stream s on s.id = e.stream_id join account a on a.id = s.user_id
  where s.deleted_at is null and not s.suspended and not a.suspended`;

const asset = sql`
  select 'asset' as kind, s.id, null::uuid as "streamId", s.playback_id as "playbackId", s.playback_policy as policy,
    s.creator_id as "creatorId", null::bigint as "beganAt", 
    case when s.playable_at is not null then 'asset' end as "cutFrom"
  from asset s join account a on a.id = s.user_id where s.deleted_at is null and not a.suspended`;

/** By playback id: the latest session of a stream, or its session with the given id; a recording; an asset. */
export async function findClipParent(
  db: Db,
  { projectId }: Owner,
  playbackId: string,
  sessionId: string | undefined,
): Promise<ClipParent | undefined> {
  if (!isPlaybackId(playbackId)) return undefined;
  const wanted = sessionId === undefined ? sql`true` : isId(sessionId) ? sql`e.id = ${sessionId}` : sql`false`;
  const { rows } = await sql<ParentRow>`
    select * from (${session} and s.project_id = ${projectId} and s.playback_id = ${playbackId} and ${wanted}
      order by e.created_at desc limit 1) live
    union all
    select * from (${session} and e.project_id = ${projectId} and e.recording_playback_id = ${playbackId} and ${wanted}) recording
    union all
    select * from (${asset} and s.project_id = ${projectId} and s.playback_id = ${playbackId}) file`.execute(db);
  const [row] = rows;
  return row && { ...row, beganAt: row.beganAt === null ? null : Number(row.beganAt) };
}

/** Whether the project has a stream with this playback id, recorded or not. */
export async function hasPlaybackId(db: Db, { projectId }: Owner, playbackId: string): Promise<boolean> {
  const mine = sql`project_id = ${projectId} and deleted_at is null and not suspended`;
  return isPlaybackId(playbackId) && hasRows(db, sql`stream`, sql`${mine} and playback_id = ${playbackId}`);
}

/** Other clip requests of the project wait until the transaction ends. */
export async function lockClipsOf(trx: Trx, { projectId }: Owner): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`clips of ${projectId}`}, 0))`.execute(trx);
}

/** Unfinished clips of the project created after `since`. */
export const countClipsInWork = (trx: Trx, { projectId }: Owner, since: number): Promise<number> =>
  countRows(
    trx,
    sql`clip c join asset a on a.id = c.asset_id`,
    sql`c.project_id = ${projectId} and c.created_at > ${since}::bigint and a.phase in ('waiting', 'processing')
      and a.deleted_at is null`,
  );

export async function insertClip(
  trx: Trx,
  { id, project_id, created_at }: AssetRow,
  {
    parent,
    startTime,
    endTime,
  }: { readonly parent: ClipParent; readonly startTime: number; readonly endTime: number | undefined },
): Promise<void> {
  const [sessionId, assetId] = parent.kind === "session" ? [parent.id, null] : [null, parent.id];
  await sql`
    insert into clip (asset_id, project_id, stream_id, session_id, parent_asset_id, from_ms, to_ms, created_at)
    values (${id}, ${project_id}, ${parent.streamId}, ${sessionId}, ${assetId}, ${startTime}, ${endTime ?? null},
      ${created_at})`.execute(trx);
}

export interface ClipRow {
  readonly session_id: string | null;
  readonly parent_asset_id: string | null;
  readonly from_ms: string;
  readonly to_ms: string | null;
  readonly created_at: string;
  /** What became of the session's recording; null for an asset. */
  readonly recording: SessionRow["recording"] | null;
}

export async function findClip(db: Db, assetId: string): Promise<ClipRow | undefined> {
  const { rows } = await sql<ClipRow>`
    select c.session_id, c.parent_asset_id, c.from_ms, c.to_ms, c.created_at, e.recording
    from clip c left join session e on e.id = c.session_id where c.asset_id = ${assetId}`.execute(db);
  return rows[0];
}

export type ClipsOf = "session" | "stream" | "asset";

const columns: Readonly<Record<ClipsOf, RawBuilder<unknown>>> = {
  session: sql`c.session_id`,
  stream: sql`c.stream_id`,
  asset: sql`c.parent_asset_id`,
};

export async function listClipsOf(db: Db, { projectId }: Owner, of: ClipsOf, id: string): Promise<AssetRow[]> {
  const { rows } = await sql<AssetRow>`
    select a.* from clip c join asset a on a.id = c.asset_id
    where ${columns[of]} = ${id} and c.project_id = ${projectId} and a.deleted_at is null
    order by a.created_at desc, a.id limit ${MAX_LISTED}`.execute(db);
  return rows;
}

/** The stream, session or asset of the project with this id or playback id. */
export async function findClipsOf(
  db: Db,
  { projectId }: Owner,
  text: string,
): Promise<{ of: ClipsOf; id: string } | undefined> {
  if (!isId(text) && !isPlaybackId(text)) return undefined;
  const isOne = (id: RawBuilder<unknown>, playbackId: RawBuilder<unknown>) =>
    isId(text) ? sql`${id} = ${text}::uuid` : sql`${playbackId} = ${text}`;
  const { rows } = await sql<{ of: ClipsOf; id: string }>`
    select 'session' as of, id from session
    where project_id = ${projectId} and ${isOne(sql`id`, sql`recording_playback_id`)}
    union all
    select 'stream', id from stream
    where project_id = ${projectId} and deleted_at is null and ${isOne(sql`id`, sql`playback_id`)}
    union all
    select 'asset', id from asset
    where project_id = ${projectId} and deleted_at is null and ${isOne(sql`id`, sql`playback_id`)}`.execute(db);
  return rows[0];
}
