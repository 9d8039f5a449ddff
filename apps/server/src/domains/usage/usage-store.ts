import type { UsageMetric } from "@weir/contract";
import { type RawBuilder, sql } from "kysely";
import { creator, withCreator, withoutNulls } from "../creator-of-subject.ts";
import type { Db, Owner, Trx } from "../schema.ts";
import type { Subject } from "../subject.ts";

export const HOUR_MS = 3_600_000;
/** Longer answers are refused, not cut. */
export const MAX_ROWS = 10_000;

/** Media that was transcoded: time of the source, however many renditions were made of it. */
export interface TranscodedTime {
  readonly subject: Subject;
  readonly owner: Owner;
  readonly at: number;
  readonly seconds: number;
}

export interface UsageQuery {
  readonly from: number;
  readonly to: number;
  readonly step: "hour" | "day" | null;
  readonly creatorId: string | undefined;
  readonly isByCreator: boolean;
}

/** Add to the hours that the times fall in. */
export async function addTranscodedTime(trx: Trx, times: readonly TranscodedTime[]): Promise<void> {
  if (times.length === 0) return;
  const rows = times.map(({ subject, owner, at, seconds }) => ({
    kind: subject.kind,
    id: subject.id,
    project: owner.projectId,
    account: owner.userId,
    hour: at - (at % HOUR_MS),
    ms: Math.round(seconds * 1000),
  }));
  await sql`
    insert into usage_hour as u (subject_kind, subject_id, hour, project_id, user_id, transcoded_ms)
    select kind, id, hour, project, account, sum(ms)
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as t(kind text, id uuid, hour bigint, project uuid, account uuid, ms bigint)
    group by kind, id, hour, project, account
    -- In one order everywhere, as processes may count the same hour at the same time.
    order by kind, id, hour
    on conflict (subject_kind, subject_id, hour) do update set transcoded_ms = u.transcoded_ms + excluded.transcoded_ms`.execute(
    trx,
  );
}

/**
 * Minutes that were transcoded and delivered in a stretch of time, and minutes that are stored at its end. Without steps and breakdown one
 * row; a step without any use has none.
 */
export async function readUsage(db: Db, { projectId, userId }: Owner, query: UsageQuery): Promise<UsageMetric[]> {
  const { from, to, step, creatorId, isByCreator } = query;
  const [first, project] = [sql`${from - (from % HOUR_MS)}::bigint`, sql`${projectId}::uuid`];
  const mine = creatorId === undefined ? sql`true` : sql`${creator} = ${creatorId}`;
  const begin = (column: RawBuilder<unknown>) =>
    sql`(extract(epoch from date_trunc(${step ?? "hour"}, to_timestamp(${column} / 1000) at time zone 'UTC')) * 1000)::float8`;
  const by = [...(step ? [sql.ref("at")] : []), ...(isByCreator ? [sql.ref("creator")] : [])];
  const { rows } = await sql<Omit<UsageMetric, "UserID">>`
    with used as (
      select ${begin(sql`v.hour`)} as at, ${creator} as creator, v.transcoded_ms, 0::bigint as delivered_ms, 0::float8 as stored_s
      from usage_hour v ${withCreator}
      where v.project_id = ${project} and v.hour >= ${first} and v.hour < ${to}::bigint and ${mine}
      union all
      select ${begin(sql`v.hour`)}, ${creator}, 0, v.playtime_ms, 0 from view_hour v ${withCreator}
      where v.project_id = ${project} and v.hour >= ${first} and v.hour < ${to}::bigint and ${mine}
      union all
      select ${begin(sql`${to - 1}::bigint`)}, ${creator}, 0, 0, v.seconds
      from (
        select 'asset'::text as subject_kind, id as subject_id, source_segments_duration as seconds from session
        where project_id = ${project} and recording = 'ready' and created_at < ${to}::bigint
        union all
        select 'asset', id, coalesce((video_spec ->> 'duration')::float8, 0) from asset
        where project_id = ${project} and phase = 'ready' and deleted_at is null and created_at < ${to}::bigint
      ) v ${withCreator} where ${mine}
    )
    select ${step ? sql`at as "TimestampMs",` : sql``} ${isByCreator ? sql`creator as "CreatorID",` : sql``}
      ${minutes(sql`sum(transcoded_ms) / 60000.0`)} as "TotalUsageMins",
      ${minutes(sql`sum(delivered_ms) / 60000.0`)} as "DeliveryUsageMins",
      ${minutes(sql`sum(stored_s) / 60.0`)} as "StorageUsageMins"
    from used ${by.length > 0 ? sql`group by ${sql.join(by)} order by ${sql.join(by)}` : sql``} limit ${MAX_ROWS + 1}`.execute(
    db,
  );
  return rows.map((row) => ({ ...withoutNulls(row), UserID: userId }));
}

const minutes = (sum: RawBuilder<unknown>) => sql`round(coalesce(${sum}, 0)::numeric, 3)::float8`;
