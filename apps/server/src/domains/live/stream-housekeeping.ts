import { sql } from "kysely";
import type { Deps } from "../deps.ts";
import type { Duty } from "../duty.ts";
import type { EventLog, NewEvent } from "../events/index.ts";
import type { Trx } from "../schema.ts";
import { lockLiveStreams } from "./live-stream.ts";
import { applyToStream } from "./stream-transition.ts";

export interface StreamHousekeepingDeps extends Deps {
  readonly events: EventLog;
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
  await deps.db.transaction().execute((trx) =>
    loseStreams(
      trx,
      deps,
      rows.map((row) => row.id),
    ),
  );
}

/** Streams that this node held before its process restarted, or still holds while it shuts down. */
export async function releaseStreamsOfNode(trx: Trx, deps: StreamHousekeepingDeps, nodeId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from stream where node_id = ${nodeId} and state <> 'idle' order by id`.execute(trx);
  if (rows.length > 0)
    await loseStreams(
      trx,
      deps,
      rows.map((row) => row.id),
    );
}

async function loseStreams(trx: Trx, deps: StreamHousekeepingDeps, ids: readonly string[]): Promise<void> {
  const changes: NewEvent[] = [];
  for (const stream of (await lockLiveStreams(trx, ids)).values()) {
    if (stream.state === "idle") continue;
    const time = { at: deps.clock.now(), reconnectWindowMs: deps.reconnectWindowMs };
    changes.push(...(await applyToStream(trx, stream, "node-lost", time)));
  }
  await deps.events.append(trx, changes);
}
