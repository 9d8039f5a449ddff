import { sql } from "kysely";
import type { Duty } from "../duty.ts";
import type { EventDeps, NewEvent } from "../events/index.ts";
import type { Trx } from "../schema.ts";
import { type LiveStream, lockLiveStreams } from "./live-stream.ts";
import { applyToStream } from "./stream-transition.ts";

export interface StreamHousekeepingDeps extends EventDeps {
  readonly reconnectWindowMs: number;
}

const BATCH = 200;

const overdue = (now: number) => sql`from stream where state = 'reconnecting' and reconnect_until <= ${now}::bigint`;

/** Expired reconnect windows: their sessions end at the last packet. Works from the database only, and needs nothing in memory. */
export const endOverdueWindows: Duty<StreamHousekeepingDeps> = {
  what: "end reconnect windows",
  isDue: (now) => sql`exists (select ${overdue(now)})`,
  run: endWindows,
};

async function endWindows(deps: StreamHousekeepingDeps): Promise<void> {
  const { db, clock, events, reconnectWindowMs } = deps;
  const { rows } = await sql<{ id: string }>`select id ${overdue(clock.now())} order by id limit ${BATCH}`.execute(db);
  for (const { id } of rows) {
    await db.transaction().execute(async (trx) => {
      const at = clock.now();
      const stream = (await lockLiveStreams(trx, [id])).get(id);
      if (stream?.state !== "reconnecting" || (stream.reconnectUntil ?? 0) > at) return;
      await events.append(trx, await applyToStream(trx, stream, "window-over", { at, reconnectWindowMs }));
    });
  }
}

const ofGoneNodes = sql`from stream s join node n on n.id = s.node_id and n.state = 'gone' where s.state = 'live'`;

/** Streams that count as live on a node that is gone. */
export const releaseStreamsOfGoneNodes: Duty<StreamHousekeepingDeps> = {
  what: "release the streams of lost nodes",
  isDue: () => sql`exists (select ${ofGoneNodes})`,
  run: releaseGone,
};

async function releaseGone(deps: StreamHousekeepingDeps): Promise<void> {
  const { rows } = await sql<{ id: string }>`select s.id ${ofGoneNodes} order by s.id limit ${BATCH}`.execute(deps.db);
  if (rows.length === 0) return;
  await deps.db.transaction().execute(async (trx) => {
    const streams = await lockLiveStreams(
      trx,
      rows.map((row) => row.id),
    );
    // Read under the locks: a node may have come back meanwhile.
    const still = await sql<{ id: string }>`
      select s.id ${ofGoneNodes} and s.id = any(${[...streams.keys()]}::uuid[])`.execute(trx);
    const gone = new Set(still.rows.map((row) => row.id));
    await loseStreams(
      trx,
      deps,
      [...streams.values()].filter(({ id }) => gone.has(id)),
    );
  });
}

/** Streams that this node held before its process restarted, or still holds while it shuts down. */
export async function releaseStreamsOfNode(trx: Trx, deps: StreamHousekeepingDeps, nodeId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from stream where node_id = ${nodeId} and state <> 'idle' order by id`.execute(trx);
  if (rows.length === 0) return;
  const streams = await lockLiveStreams(
    trx,
    rows.map((row) => row.id),
  );
  const own = [...streams.values()].filter((stream) => stream.nodeId === nodeId);
  // Unlike a node that is declared gone, it is sure that the publisher is: no fact of it counts any more but rows of recordings.
  for (const stream of own) stream.epoch += 1;
  await loseStreams(trx, deps, own);
}

async function loseStreams(trx: Trx, deps: StreamHousekeepingDeps, streams: readonly LiveStream[]): Promise<void> {
  const changes: NewEvent[] = [];
  for (const stream of streams) {
    if (stream.state === "idle") continue;
    const time = { at: deps.clock.now(), reconnectWindowMs: deps.reconnectWindowMs };
    changes.push(...(await applyToStream(trx, stream, "node-lost", time)));
  }
  await deps.events.append(trx, changes);
}
