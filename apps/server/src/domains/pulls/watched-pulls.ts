import type { PullStatus } from "@weir/contract";
import { sql } from "kysely";
import type { Db, StreamRow } from "../schema.ts";

/** A viewer who asked is counted by then, if the source is there. */
const ASKED_FOR_MS = 60_000;
const ASKED_EVERY_MS = 10_000;
/** A viewer is counted for 30 s after the last request, every 10 s: the pull ends about a minute after the last one left. */
const COUNTED_FOR_MS = 40_000;
const COUNTED_EVERY_MS = 10_000;
/** Older counts are of a node that is gone. */
const COUNT_VALID_MS = 30_000;
/** A node that has stopped pulling has let its source go by then, and any other may pull it. */
const LET_GO_MS = 10_000;

const WAITING = "Waiting for a viewer: the source is connected to only while somebody watches.";

/** Of rows `s`: pulled only while somebody watches. */
const onlyWatched = sql`coalesce(s.pull->>'onlyWhileWatched' = 'true', false)`;

/** Of rows `s`: to be pulled now, for its viewers or without any. */
export const isWatched = (now: number) => sql`(not ${onlyWatched} or s.pull_watched_until > ${now}::bigint)`;

/**
 * An `update` of the streams that `nodeId` pulls only while somebody watches, and that anybody watches on any node: of each at most every 10 s. One that
 * was not to be pulled for a while at `since` stays so.
 */
export const keepWatched = (nodeId: string, now: number, since: number) => sql`
  update stream s set pull_watched_until = seen.until
  from (
    select o.id, o.playback_id from stream o
    where o.pull_wanted and o.pull_node_id = ${nodeId}::uuid and o.pull->>'onlyWhileWatched' = 'true'
      and o.pull_watched_until between ${since - LET_GO_MS}::bigint and ${now + COUNTED_FOR_MS - COUNTED_EVERY_MS}::bigint
    for update skip locked
  ) o cross join lateral (
    select max(c.told_at) + ${COUNTED_FOR_MS}::bigint as until
    from node n join viewer_count c on c.node_id = n.id and c.playback_id = o.playback_id
    where c.viewers > 0 and c.told_at > ${now - COUNT_VALID_MS}::bigint
  ) seen
  where s.id = o.id and s.pull_watched_until < seen.until`;

/**
 * Has the stream pulled for a viewer who asked for it, if it is to be pulled while somebody watches. One that was not pulled for a while
 * is for any node to pull.
 */
export async function wantPull(db: Db, streamId: string, now: number): Promise<void> {
  const waiting = JSON.stringify({ state: "waiting", since: now } satisfies PullStatus);
  const isLetGo = sql`s.pull_watched_until < ${now - LET_GO_MS}::bigint`;
  await sql`
    update stream s set pull_watched_until = ${now + ASKED_FOR_MS}::bigint,
      pull_node_id = case when ${isLetGo} then null else s.pull_node_id end,
      pull_status = case when ${isLetGo} then ${waiting}::jsonb else s.pull_status end
    where s.id = ${streamId}::uuid and s.pull_wanted and ${onlyWatched} and s.deleted_at is null
      and s.pull_watched_until < ${now + ASKED_FOR_MS - ASKED_EVERY_MS}::bigint`.execute(db);
}

type PulledRow = Pick<StreamRow, "pull" | "pull_wanted" | "pull_status" | "pull_watched_until">;

/** How the pull goes. That nobody watches any more is no change of the row. */
export function pullStatus(row: PulledRow, now: number): PullStatus | null {
  const { pull, pull_wanted: isStarted, pull_status: status } = row;
  const watchedUntil = Number(row.pull_watched_until);
  if (!status || !isStarted || !pull?.onlyWhileWatched || watchedUntil > now) return status;
  return { state: "waiting", since: Math.max(status.since, watchedUntil), reason: WAITING };
}
