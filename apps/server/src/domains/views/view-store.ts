import type { TotalViews, Viewership, ViewsNow } from "@weir/contract";
import { type RawBuilder, sql } from "kysely";
import type { Audience } from "../../ports/index.ts";
import { hasRows, type Step } from "../api/index.ts";
import { creator, withCreator, withoutNulls } from "../creator-of-subject.ts";
import type { Deps } from "../deps.ts";
import type { Duty } from "../duty.ts";
import type { Db, Owner, Trx } from "../schema.ts";
import type { Subject } from "../subject.ts";
import { watchables } from "./watchable.ts";

/** Totals from one player since its last report, in addition to its presence. */
export interface PlayerReport {
  readonly errors: number;
  readonly heartbeats: number;
  /** Reports of players that are new. */
  readonly players: number;
  /** Players that showed their first picture, and the milliseconds that all of them waited for it. */
  readonly starts: number;
  readonly ttffMs: number;
  readonly playingMs: number;
  readonly rebufferingMs: number;
}

/** The views of one playback id and audience that one node counted since its last report. */
export interface CountRow extends Audience, PlayerReport {
  readonly playbackId: string;
  /** Current viewers; null if the number is unknown. */
  readonly now: number | null;
  readonly begun: number;
  readonly watchedMs: number;
}

/** The audience of viewers about whom nothing is known. */
export const NOBODY_KNOWN: Audience = { deviceType: "", os: "", browser: "", country: "" };

/** An existing subject with viewers on a node. */
export interface CountedWatchable {
  readonly playbackId: string;
  /** The subject whose log reports its viewers. */
  readonly log: Subject;
  readonly owner: Owner;
}

export const HOUR_MS = 3_600_000;
/** A node reports its counts every 10 s. Older counts belong to a node that is gone. */
export const COUNT_VALID_MS = 30_000;
/** Longer responses are refused, not cut. */
export const MAX_ROWS = 10_000;

/** Some clients request dimensions that are not recorded: they are empty in every row. */
export const DIMENSIONS = [
  ...(["playbackId", "creatorId", "deviceType", "device", "os", "browser", "country"] as const),
  ...(["viewerId", "cpu", "browserEngine", "continent", "subdivision", "timezone", "geohash"] as const),
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Selects the views of one subject or, if none is given, of the whole project. */
export interface ViewsOf {
  readonly playbackId?: string | undefined;
  /** A stream's own views do not include those of its recordings. Two subjects at once select nothing. */
  readonly subjects: readonly Subject[];
  readonly creatorId?: string | undefined;
}

const AUDIENCE = sql.raw("device_type, os, browser, country");
const REPORT = sql.raw("errors, heartbeats, players, starts, ttff_ms, playing_ms, rebuffering_ms");

const hourOf = (at: number) => at - (at % HOUR_MS);

/** Add the counts and store the current viewers. Returns the subjects that exist; others are dropped. */
export async function writeCounts(
  trx: Trx,
  told: { nodeId: string; now: number; counts: readonly CountRow[] },
): Promise<CountedWatchable[]> {
  const { rows } = await sql<CountedWatchable>`
    with counted as (
      select f."playbackId" as playback_id, f."deviceType" as device_type, f.os, f.browser, f.country, f.now, f.begun,
        round(f."watchedMs")::bigint as watched_ms, f.errors, f.heartbeats, f.players, f.starts, f."ttffMs" as ttff_ms,
        f."playingMs" as playing_ms, f."rebufferingMs" as rebuffering_ms,
        w.kind as subject_kind, w.id as subject_id, w.project_id, w.user_id, w.log_kind, w.log_id
      from json_to_recordset(${JSON.stringify(told.counts)}::json) as f("playbackId" text, "deviceType" text, os text, browser text,
        country text, now int, begun bigint, "watchedMs" float8, errors bigint, heartbeats bigint, players bigint, starts bigint,
        "ttffMs" bigint, "playingMs" bigint, "rebufferingMs" bigint)
      join lateral (select * from ${watchables} a where a.playback_id = f."playbackId" limit 1) w on true
    ), hours as (
      insert into view_hour as h
        (playback_id, hour, ${AUDIENCE}, project_id, user_id, subject_kind, subject_id, view_count, playtime_ms, ${REPORT})
      select playback_id, ${hourOf(told.now)}::bigint, ${AUDIENCE}, project_id, user_id, subject_kind, subject_id, begun, watched_ms, ${REPORT}
      from counted where begun + watched_ms + errors + heartbeats > 0
      -- In one order everywhere, as nodes may count the same recording at the same time.
      order by playback_id, ${AUDIENCE}
      on conflict (playback_id, hour, ${AUDIENCE}) do update set view_count = h.view_count + excluded.view_count,
        playtime_ms = h.playtime_ms + excluded.playtime_ms, errors = h.errors + excluded.errors,
        heartbeats = h.heartbeats + excluded.heartbeats, players = h.players + excluded.players,
        starts = h.starts + excluded.starts, ttff_ms = h.ttff_ms + excluded.ttff_ms,
        playing_ms = h.playing_ms + excluded.playing_ms, rebuffering_ms = h.rebuffering_ms + excluded.rebuffering_ms
    ), present as (
      insert into viewer_count as v
        (node_id, playback_id, ${AUDIENCE}, project_id, user_id, subject_kind, subject_id, viewers, told_at)
      select ${told.nodeId}::uuid, playback_id, ${AUDIENCE}, project_id, user_id, subject_kind, subject_id, now, ${told.now}::bigint
      from counted where now > 0
      on conflict (node_id, playback_id, ${AUDIENCE}) do update set viewers = excluded.viewers, told_at = excluded.told_at
    ), gone as (
      delete from viewer_count v using counted c
      where v.node_id = ${told.nodeId}::uuid and v.playback_id = c.playback_id and c.now = 0
        and (v.device_type, v.os, v.browser, v.country) = (c.device_type, c.os, c.browser, c.country)
    )
    select distinct on (playback_id) playback_id as "playbackId", json_build_object('kind', log_kind, 'id', log_id) as log,
      json_build_object('projectId', project_id, 'userId', user_id) as owner from counted`.execute(trx);
  return rows;
}

const oldCounts = (now: number) => sql`from viewer_count where told_at < ${now - COUNT_VALID_MS}::bigint`;

/** Counts left behind by their node. */
export const forgetOldCounts: Duty<Deps> = {
  what: "forget old counts of viewers",
  isDue: (now) => sql`exists (select ${oldCounts(now)})`,
  async run({ db, clock }) {
    await sql`delete ${oldCounts(clock.now())}`.execute(db);
  },
};

/** Viewers of each of these streams that has any, on all nodes. */
export async function countViewersOfStreams(
  trx: Db,
  streamIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  if (streamIds.length === 0) return new Map();
  const { rows } = await sql<{ id: string; viewers: number }>`
    select subject_id as id, sum(viewers)::int as viewers from viewer_count
    where subject_kind = 'stream' and subject_id = any(${streamIds}::uuid[]) and told_at > ${now - COUNT_VALID_MS}::bigint
    group by subject_id`.execute(trx);
  return new Map(rows.map(({ id, viewers }) => [id, viewers]));
}

/** Whether the project has one of these subjects, deleted or not. */
export async function isWatchable(db: Db, { projectId }: Owner, { subjects }: ViewsOf): Promise<boolean> {
  const [kinds, ids] = [subjects.map(({ kind }) => kind), subjects.map(({ id }) => id)];
  const found = sql`unnest(${kinds}::text[], ${ids}::uuid[]) as f(kind, id)
    join ${watchables} w on w.kind = f.kind and w.id = f.id`;
  return hasRows(db, found, sql`w.project_id = ${projectId}`);
}

/** Current viewers reported by nodes within 30 s. Without dimensions one row, with zeros if there are none. */
export async function readViewsNow(
  db: Db,
  { projectId }: Owner,
  query: { of: ViewsOf; by: readonly Dimension[]; now: number },
): Promise<ViewsNow[]> {
  const { of, by, now } = query;
  const { rows } = await sql<ViewsNow>`
    select ${shown(by)} coalesce(sum(v.viewers), 0)::float8 as "viewCount", ${errorRate} as "errorRate"
    from (
      select subject_kind, subject_id, playback_id, ${AUDIENCE}, viewers, 0 as view_count, 0 as errors
      from viewer_count where project_id = ${projectId} and told_at > ${now - COUNT_VALID_MS}::bigint
      union all
      select subject_kind, subject_id, playback_id, ${AUDIENCE}, 0, view_count, errors
      from view_hour where project_id = ${projectId} and hour = ${hourOf(now)}::bigint
    ) v ${withCreator}
    where ${matches(of)} ${grouped(by.length)} ${by.length > 0 ? sql`having sum(v.viewers) > 0` : sql``}
    order by "viewCount" desc limit ${MAX_ROWS + 1}`.execute(db);
  return rows.map(withoutNulls);
}

/** Views per whole hour. Without dimensions and steps one row, with zeros if there were none. */
export async function readViewership(
  db: Db,
  { projectId }: Owner,
  query: { of: ViewsOf; by: readonly Dimension[]; from: number; to: number; step: Step | null },
): Promise<Viewership[]> {
  const { of, by, from, to, step } = query;
  const begin = sql`(extract(epoch from date_trunc(${step ?? "hour"}, to_timestamp(v.hour / 1000) at time zone 'UTC')) * 1000)::float8`;
  const { rows } = await sql<Viewership>`
    select ${step ? sql`${begin} as "timestamp",` : sql``} ${shown(by)} ${sums}, ${quality}
    from view_hour v ${withCreator}
    where v.project_id = ${projectId} and v.hour >= ${hourOf(from)}::bigint and v.hour < ${to}::bigint and ${matches(of)}
    ${grouped(by.length + (step ? 1 : 0))} ${step ? sql`order by 1` : sql`order by "viewCount" desc`}
    limit ${MAX_ROWS + 1}`.execute(db);
  return rows.map(withoutNulls);
}

/** All views ever counted for a playback id, in any project. */
export async function readTotalViews(db: Db, playbackId: string): Promise<TotalViews> {
  const { rows } = await sql<Pick<TotalViews, "viewCount" | "playtimeMins">>`
    select ${sums} from view_hour v where v.playback_id = ${playbackId}`.execute(db);
  const { viewCount = 0, playtimeMins = 0 } = rows[0] ?? {};
  return { playbackId, viewCount, playtimeMins, legacyViewCount: 0 };
}

/** Current viewers of each account, by its projects. */
export async function readViewersOfAccounts(db: Db, now: number): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; viewers: number }>`
    select p.id, sum(v.viewers)::float8 as viewers from viewer_count v join project p on p.user_id = v.user_id
    where v.told_at > ${now - COUNT_VALID_MS}::bigint group by p.id`.execute(db);
  return new Map(rows.map(({ id, viewers }) => [id, viewers]));
}

const columns: Readonly<Partial<Record<Dimension, RawBuilder<unknown>>>> = {
  playbackId: sql`v.playback_id`,
  creatorId: creator,
  deviceType: sql`v.device_type`,
  device: sql`v.device_type`,
  os: sql`v.os`,
  browser: sql`v.browser`,
  country: sql`v.country`,
};

const sums = sql`coalesce(sum(v.view_count), 0)::float8 as "viewCount",
  round((coalesce(sum(v.playtime_ms), 0) / 60000.0)::numeric, 3)::float8 as "playtimeMins"`;
const errorRate = sql`round(least(1, coalesce(sum(v.errors), 0) / greatest(sum(v.view_count), 1)::numeric), 4)::float8`;
/** Null if no player reported. */
const quality = sql`${errorRate} as "errorRate",
  round(sum(v.ttff_ms) / nullif(sum(v.starts), 0)::numeric)::float8 as "ttffMs",
  round(sum(v.rebuffering_ms) / nullif(sum(v.playing_ms + v.rebuffering_ms), 0)::numeric, 4)::float8 as "rebufferRatio",
  round(greatest(0, sum(v.players - v.starts)) / nullif(sum(v.players), 0)::numeric, 4)::float8 as "exitsBeforeStart"`;

const shown = (by: readonly Dimension[]) =>
  sql.join([...by.map((name) => sql`${columns[name] ?? sql`''::text`} as ${sql.ref(name)},`), sql``], sql` `);

/** Sorted by the first columns of the response. */
const grouped = (count: number) =>
  count > 0 ? sql.raw(`group by ${Array.from({ length: count }, (_, index) => index + 1).join(", ")}`) : sql``;

function matches({ playbackId, subjects, creatorId }: ViewsOf): RawBuilder<unknown> {
  const conditions = [
    ...(playbackId === undefined ? [] : [sql`v.playback_id = ${playbackId}`]),
    ...subjects.map(({ kind, id }) => sql`v.subject_kind = ${kind} and v.subject_id = ${id}::uuid`),
    ...(creatorId === undefined ? [] : [sql`${creator} = ${creatorId}`]),
  ];
  return conditions.length > 0 ? sql.join(conditions, sql` and `) : sql`true`;
}
