import type { TotalViews, Viewership, ViewsNow } from "@weir/contract";
import { type RawBuilder, sql } from "kysely";
import type { Db, Owner, Trx } from "../schema.ts";

/** What one node counted of one playback id since the last time. */
export interface CountRow {
  readonly playbackId: string;
  /** Viewers at the moment; null where nothing is known of them. */
  readonly now: number | null;
  readonly begun: number;
  readonly watchedMs: number;
  readonly errors: number;
  readonly heartbeats: number;
}

export const HOUR_MS = 3_600_000;
/** A node tells its counts every 10 s; after this they are those of a node that is gone. */
export const COUNT_STANDS_MS = 30_000;
/** Longer answers are refused, not cut. */
export const MOST_ROWS = 10_000;

export type Dimension = "playbackId" | "creatorId";
export type Step = "hour" | "day" | "week" | "month" | "year";

/** Whose views: of one thing or, without any, of all of the project. */
export interface ViewsOf {
  readonly playbackId?: string | undefined;
  readonly streamId?: string | undefined;
  readonly assetId?: string | undefined;
  readonly creatorId?: string | undefined;
}

const hourOf = (at: number) => at - (at % HOUR_MS);

/** Add up what was counted and keep who watches now. Returns the playback ids that exist, with their streams; others are dropped. */
export async function writeCounts(
  trx: Trx,
  told: { nodeId: string; now: number; counts: readonly CountRow[] },
): Promise<{ playbackId: string; streamId: string }[]> {
  // In one order everywhere, as nodes may count the same recording at the same time.
  const counts = told.counts.toSorted((a, b) => (a.playbackId < b.playbackId ? -1 : 1));
  const column = <Field extends keyof CountRow>(field: Field) => counts.map((count) => count[field]);
  const { rows } = await sql<{ playbackId: string; streamId: string }>`
    with counted as (
      select f.*, o.* from unnest(${column("playbackId")}::text[], ${column("now")}::int[], ${column("begun")}::bigint[],
        ${column("watchedMs").map(Math.round)}::bigint[], ${column("errors")}::bigint[], ${column("heartbeats")}::bigint[])
        as f(playback_id, now, begun, watched_ms, errors, heartbeats)
      join lateral (
        select s.project_id, s.user_id, s.id as stream_id, null::uuid as asset_id from stream s where s.playback_id = f.playback_id
        union all
        select e.project_id, e.user_id, e.stream_id, e.id from session e where e.recording_playback_id = f.playback_id
        limit 1
      ) o on true
    ), hours as (
      insert into view_hour as h
        (playback_id, hour, project_id, user_id, stream_id, asset_id, view_count, playtime_ms, errors, heartbeats)
      select playback_id, ${hourOf(told.now)}::bigint, project_id, user_id, stream_id, asset_id, begun, watched_ms, errors, heartbeats
      from counted where begun + watched_ms + errors + heartbeats > 0 order by playback_id
      on conflict (playback_id, hour) do update set view_count = h.view_count + excluded.view_count,
        playtime_ms = h.playtime_ms + excluded.playtime_ms, errors = h.errors + excluded.errors,
        heartbeats = h.heartbeats + excluded.heartbeats
    ), present as (
      insert into viewer_count as v (node_id, playback_id, project_id, user_id, stream_id, asset_id, viewers, told_at)
      select ${told.nodeId}::uuid, playback_id, project_id, user_id, stream_id, asset_id, now, ${told.now}::bigint
      from counted where now > 0
      on conflict (node_id, playback_id) do update set viewers = excluded.viewers, told_at = excluded.told_at
    ), gone as (
      delete from viewer_count v using counted c
      where v.node_id = ${told.nodeId}::uuid and v.playback_id = c.playback_id and c.now = 0
    )
    select playback_id as "playbackId", stream_id as "streamId" from counted`.execute(trx);
  return rows;
}

/** Counts that their node left behind. */
export async function forgetOldCounts(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom("viewer_count")
    .where("told_at", "<", String(now - COUNT_STANDS_MS))
    .execute();
}

/** Whether the project has this stream, also a deleted one, or this recording. */
export async function isWatchable(db: Db, { projectId }: Owner, { streamId, assetId }: ViewsOf): Promise<boolean> {
  const { rows } = await sql`
    select 1 from stream where id = ${streamId ?? null}::uuid and project_id = ${projectId}
    union all
    select 1 from session where id = ${assetId ?? null}::uuid and project_id = ${projectId}`.execute(db);
  return rows.length > 0;
}

/** Who watches now, of those that nodes told of within 30 s. Without dimensions one row, of zeros where nobody does. */
export async function readViewsNow(
  db: Db,
  { projectId }: Owner,
  query: { of: ViewsOf; by: readonly Dimension[]; now: number },
): Promise<ViewsNow[]> {
  const { of, by, now } = query;
  const { rows } = await sql<ViewsNow>`
    select ${shown(by)} coalesce(sum(v.viewers), 0)::float8 as "viewCount", ${errorRate} as "errorRate"
    from (
      select project_id, stream_id, asset_id, playback_id, viewers, 0 as view_count, 0 as errors
      from viewer_count where project_id = ${projectId} and told_at > ${now - COUNT_STANDS_MS}::bigint
      union all
      select project_id, stream_id, asset_id, playback_id, 0, view_count, errors
      from view_hour where project_id = ${projectId} and hour = ${hourOf(now)}::bigint
    ) v join stream s on s.id = v.stream_id
    where ${matches(of)} ${grouped(by.map((name) => columns[name]))} ${by.length > 0 ? sql`having sum(v.viewers) > 0` : sql``}
    order by "viewCount" desc limit ${MOST_ROWS + 1}`.execute(db);
  return rows.map(withoutNulls);
}

/** Views of whole hours. Without dimensions and steps one row, of zeros where there were none. */
export async function readViewership(
  db: Db,
  { projectId }: Owner,
  query: { of: ViewsOf; by: readonly Dimension[]; from: number; to: number; step: Step | null },
): Promise<Viewership[]> {
  const { of, by, from, to, step } = query;
  const begin = sql`(extract(epoch from date_trunc(${step ?? "hour"}, to_timestamp(v.hour / 1000) at time zone 'UTC')) * 1000)::float8`;
  const groups = [...(step ? [begin] : []), ...by.map((name) => columns[name])];
  const { rows } = await sql<Viewership>`
    select ${step ? sql`${begin} as "timestamp",` : sql``} ${shown(by)} ${sums}, ${errorRate} as "errorRate"
    from view_hour v join stream s on s.id = v.stream_id
    where v.project_id = ${projectId} and v.hour >= ${hourOf(from)}::bigint and v.hour < ${to}::bigint and ${matches(of)}
    ${grouped(groups.map((_, index) => sql.raw(String(index + 1))))} ${step ? sql`order by 1` : sql`order by "viewCount" desc`}
    limit ${MOST_ROWS + 1}`.execute(db);
  return rows.map(withoutNulls);
}

/** Everything that was ever counted of a playback id, whoever owns it. */
export async function readTotalViews(db: Db, playbackId: string): Promise<TotalViews> {
  const { rows } = await sql<Pick<TotalViews, "viewCount" | "playtimeMins">>`
    select ${sums} from view_hour v where v.playback_id = ${playbackId}`.execute(db);
  const { viewCount = 0, playtimeMins = 0 } = rows[0] ?? {};
  return { playbackId, viewCount, playtimeMins, legacyViewCount: 0 };
}

/** Viewers at the moment of each account, by its projects. */
export async function readViewersOfAccounts(db: Db, now: number): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; viewers: number }>`
    select p.id, sum(v.viewers)::float8 as viewers from viewer_count v join project p on p.user_id = v.user_id
    where v.told_at > ${now - COUNT_STANDS_MS}::bigint group by p.id`.execute(db);
  return new Map(rows.map(({ id, viewers }) => [id, viewers]));
}

const columns: Readonly<Record<Dimension, RawBuilder<unknown>>> = {
  playbackId: sql`v.playback_id`,
  creatorId: sql`s.creator_id`,
};

const sums = sql`coalesce(sum(v.view_count), 0)::float8 as "viewCount",
  round((coalesce(sum(v.playtime_ms), 0) / 60000.0)::numeric, 3)::float8 as "playtimeMins"`;
const errorRate = sql`round(least(1, coalesce(sum(v.errors), 0) / greatest(sum(v.view_count), 1)::numeric), 4)::float8`;

const shown = (by: readonly Dimension[]) =>
  sql.join([...by.map((name) => sql`${columns[name]} as ${sql.ref(name)},`), sql``], sql` `);

const grouped = (groups: readonly RawBuilder<unknown>[]) =>
  groups.length > 0 ? sql`group by ${sql.join(groups)}` : sql``;

function matches({ playbackId, streamId, assetId, creatorId }: ViewsOf): RawBuilder<unknown> {
  const conditions = [
    ...(playbackId === undefined ? [] : [sql`v.playback_id = ${playbackId}`]),
    // A stream's own views, not those of its recordings.
    ...(streamId === undefined ? [] : [sql`v.stream_id = ${streamId}::uuid and v.asset_id is null`]),
    ...(assetId === undefined ? [] : [sql`v.asset_id = ${assetId}::uuid`]),
    ...(creatorId === undefined ? [] : [sql`s.creator_id = ${creatorId}`]),
  ];
  return conditions.length > 0 ? sql.join(conditions, sql` and `) : sql`true`;
}

/** What has no creator has no `creatorId`: clients take no null. */
function withoutNulls<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row;
}
