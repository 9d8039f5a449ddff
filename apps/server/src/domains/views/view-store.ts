import type { TotalViews, Viewership, ViewsNow } from "@weir/contract";
import { type RawBuilder, sql } from "kysely";
import type { Db, Owner, Trx } from "../schema.ts";
import type { Subject } from "../subject.ts";
import { watchables, withCreator } from "./watchable.ts";

/** The views of one playback id that one node counted since the last time. */
export interface CountRow {
  readonly playbackId: string;
  /** Viewers at the moment; null where nothing is known of them. */
  readonly now: number | null;
  readonly begun: number;
  readonly watchedMs: number;
  readonly errors: number;
  readonly heartbeats: number;
}

/** Something that exists, of which a node counted viewers. */
export interface CountedWatchable {
  readonly playbackId: string;
  /** The subject whose log tells of its viewers. */
  readonly log: Subject;
  readonly owner: Owner;
}

export const HOUR_MS = 3_600_000;
/** A node tells its counts every 10 s; after this they are those of a node that is gone. */
export const COUNT_STANDS_MS = 30_000;
/** Longer answers are refused, not cut. */
export const MAX_ROWS = 10_000;

export type Dimension = "playbackId" | "creatorId";
export type Step = "hour" | "day" | "week" | "month" | "year";

/** Whose views: of one thing or, without any, of all of the project. */
export interface ViewsOf {
  readonly playbackId?: string | undefined;
  /** A stream's own views are not those of its recordings. Nothing is two subjects. */
  readonly subjects: readonly Subject[];
  readonly creatorId?: string | undefined;
}

const hourOf = (at: number) => at - (at % HOUR_MS);

/** Add up what was counted and keep who watches now. Returns those that exist; others are dropped. */
export async function writeCounts(
  trx: Trx,
  told: { nodeId: string; now: number; counts: readonly CountRow[] },
): Promise<CountedWatchable[]> {
  // In one order everywhere, as nodes may count the same recording at the same time.
  const counts = told.counts.toSorted((a, b) => (a.playbackId < b.playbackId ? -1 : 1));
  const column = <Field extends keyof CountRow>(field: Field) => counts.map((count) => count[field]);
  const { rows } = await sql<CountedWatchable>`
    with counted as (
      select f.*, w.kind as subject_kind, w.id as subject_id, w.project_id, w.user_id, w.log_kind, w.log_id
      from unnest(${column("playbackId")}::text[], ${column("now")}::int[], ${column("begun")}::bigint[],
        ${column("watchedMs").map(Math.round)}::bigint[], ${column("errors")}::bigint[], ${column("heartbeats")}::bigint[])
        as f(playback_id, now, begun, watched_ms, errors, heartbeats)
      join lateral (select * from ${watchables} a where a.playback_id = f.playback_id limit 1) w on true
    ), hours as (
      insert into view_hour as h
        (playback_id, hour, project_id, user_id, subject_kind, subject_id, view_count, playtime_ms, errors, heartbeats)
      select playback_id, ${hourOf(told.now)}::bigint, project_id, user_id, subject_kind, subject_id, begun, watched_ms, errors, heartbeats
      from counted where begun + watched_ms + errors + heartbeats > 0 order by playback_id
      on conflict (playback_id, hour) do update set view_count = h.view_count + excluded.view_count,
        playtime_ms = h.playtime_ms + excluded.playtime_ms, errors = h.errors + excluded.errors,
        heartbeats = h.heartbeats + excluded.heartbeats
    ), present as (
      insert into viewer_count as v (node_id, playback_id, project_id, user_id, subject_kind, subject_id, viewers, told_at)
      select ${told.nodeId}::uuid, playback_id, project_id, user_id, subject_kind, subject_id, now, ${told.now}::bigint
      from counted where now > 0
      on conflict (node_id, playback_id) do update set viewers = excluded.viewers, told_at = excluded.told_at
    ), gone as (
      delete from viewer_count v using counted c
      where v.node_id = ${told.nodeId}::uuid and v.playback_id = c.playback_id and c.now = 0
    )
    select playback_id as "playbackId", json_build_object('kind', log_kind, 'id', log_id) as log,
      json_build_object('projectId', project_id, 'userId', user_id) as owner from counted`.execute(trx);
  return rows;
}

/** Counts that their node left behind. */
export async function forgetOldCounts(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom("viewer_count")
    .where("told_at", "<", String(now - COUNT_STANDS_MS))
    .execute();
}

/** The viewers of each of these streams that has any, on all nodes. */
export async function countViewersOfStreams(
  trx: Trx,
  streamIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  if (streamIds.length === 0) return new Map();
  const { rows } = await sql<{ id: string; viewers: number }>`
    select subject_id as id, sum(viewers)::int as viewers from viewer_count
    where subject_kind = 'stream' and subject_id = any(${streamIds}::uuid[]) and told_at > ${now - COUNT_STANDS_MS}::bigint
    group by subject_id`.execute(trx);
  return new Map(rows.map(({ id, viewers }) => [id, viewers]));
}

/** Whether the project has one of these subjects, also a deleted one. */
export async function isWatchable(db: Db, { projectId }: Owner, { subjects }: ViewsOf): Promise<boolean> {
  const { rows } = await sql`
    select from unnest(${subjects.map(({ kind }) => kind)}::text[], ${subjects.map(({ id }) => id)}::uuid[]) as f(kind, id)
    join ${watchables} w on w.kind = f.kind and w.id = f.id where w.project_id = ${projectId}`.execute(db);
  return rows.length > 0;
}

/** The current viewers that nodes reported within 30 s. Without dimensions one row, of zeros where there are none. */
export async function readViewsNow(
  db: Db,
  { projectId }: Owner,
  query: { of: ViewsOf; by: readonly Dimension[]; now: number },
): Promise<ViewsNow[]> {
  const { of, by, now } = query;
  const { rows } = await sql<ViewsNow>`
    select ${shown(by)} coalesce(sum(v.viewers), 0)::float8 as "viewCount", ${errorRate} as "errorRate"
    from (
      select subject_kind, subject_id, playback_id, viewers, 0 as view_count, 0 as errors
      from viewer_count where project_id = ${projectId} and told_at > ${now - COUNT_STANDS_MS}::bigint
      union all
      select subject_kind, subject_id, playback_id, 0, view_count, errors
      from view_hour where project_id = ${projectId} and hour = ${hourOf(now)}::bigint
    ) v ${withCreator}
    where ${matches(of)} ${grouped(by.map((name) => columns[name]))} ${by.length > 0 ? sql`having sum(v.viewers) > 0` : sql``}
    order by "viewCount" desc limit ${MAX_ROWS + 1}`.execute(db);
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
    from view_hour v ${withCreator}
    where v.project_id = ${projectId} and v.hour >= ${hourOf(from)}::bigint and v.hour < ${to}::bigint and ${matches(of)}
    ${grouped(groups.map((_, index) => sql.raw(String(index + 1))))} ${step ? sql`order by 1` : sql`order by "viewCount" desc`}
    limit ${MAX_ROWS + 1}`.execute(db);
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

function matches({ playbackId, subjects, creatorId }: ViewsOf): RawBuilder<unknown> {
  const conditions = [
    ...(playbackId === undefined ? [] : [sql`v.playback_id = ${playbackId}`]),
    ...subjects.map(({ kind, id }) => sql`v.subject_kind = ${kind} and v.subject_id = ${id}::uuid`),
    ...(creatorId === undefined ? [] : [sql`s.creator_id = ${creatorId}`]),
  ];
  return conditions.length > 0 ? sql.join(conditions, sql` and `) : sql`true`;
}

/** A row without a creator has no `creatorId`: clients take no null. */
function withoutNulls<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row;
}
