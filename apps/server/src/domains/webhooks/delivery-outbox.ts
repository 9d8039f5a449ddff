import { type RawBuilder, sql } from "kysely";
import { notifyAfterCommit } from "../../platform/notifier.ts";
import type { PlacedEvent } from "../events/index.ts";
import type { Db, Trx } from "../schema.ts";

/** The channel that notifies workers of due deliveries. */
export const WEBHOOK_CHANNEL = "webhook_due";

const MAX_REPLAYED = 10_000;

/**
 * Queue one delivery for each event and each matching webhook of the project. Runs in the transaction of the events, so that both are committed
 * or neither, and last in it, because it locks queues. Workers are notified at the commit.
 */
export async function queueDeliveries(trx: Trx, events: readonly PlacedEvent[], now: number): Promise<void> {
  const named = events.flatMap(({ event, seq }) => {
    const name = webhookEventOf(event.body);
    return name === null ? [] : [{ ...event, seq, name }];
  });
  if (named.length === 0) return;
  const found = sql`
    select w.id as webhook_id, f.subject_kind, f.subject_id, f.seq, f.at, f.name
    from unnest(${named.map(({ subject }) => subject.kind)}::text[], ${named.map(({ subject }) => subject.id)}::uuid[],
      ${named.map(({ owner }) => owner.projectId)}::uuid[], ${named.map(({ seq }) => seq)}::bigint[],
      ${named.map(({ at }) => at)}::bigint[], ${named.map(({ name }) => name)}::text[]) as f(subject_kind, subject_id, project_id, seq, at, name)
    join webhook w on w.project_id = f.project_id and f.name = any(w.events)
      and (w.stream_id is null or w.stream_id = f.subject_id::text)`;
  await insertDeliveries(trx, found, now);
}

/** The webhook name of an event in the log; null if webhooks do not report it. `queueReplay` has the same mapping in SQL. */
function webhookEventOf(body: PlacedEvent["event"]["body"]): string | null {
  if (body.type === "stream_state") return body.state.active ? "stream.started" : "stream.idle";
  return body.type === "webhook_event" ? body.event : null;
}

export interface ReplayRange {
  readonly webhookId: string;
  readonly projectId: string;
  /** Milliseconds since the Unix epoch; both ends are inclusive. */
  readonly from: number;
  readonly to: number;
  readonly now: number;
}

/** Queue the matching events of the range again, and return their number. */
export async function queueReplay(db: Db, { webhookId, projectId, from, to, now }: ReplayRange): Promise<number> {
  const placed = (table: string, types: RawBuilder<unknown>) => sql`
    select subject_kind, subject_id, seq, at, case type when 'webhook_event' then data->>'event'
      else case when (data->'state'->>'active')::boolean then 'stream.started' else 'stream.idle' end end as name
    from ${sql.table(table)} where project_id = ${projectId} and at between ${from}::bigint and ${to}::bigint and ${types}`;
  const found = sql`
    select w.id as webhook_id, f.subject_kind, f.subject_id, f.seq, f.at, f.name
    from (${placed("event_lifecycle", sql`type in ('stream_state', 'webhook_event')`)}
      union all ${placed("event_telemetry", sql`type = 'webhook_event'`)}) as f
    join webhook w on w.id = ${webhookId} and f.name = any(w.events)
      and (w.stream_id is null or w.stream_id = f.subject_id::text)
    order by f.at, f.subject_id, f.seq limit ${MAX_REPLAYED}`;
  return db.transaction().execute((trx) => insertDeliveries(trx, found, now));
}

/** Rows are inserted, and so locked, in the order of their keys, as everywhere. */
async function insertDeliveries(trx: Trx, found: RawBuilder<unknown>, now: number): Promise<number> {
  const { rows } = await sql<{ deliveries: string }>`
    with found as (${found}), added as (
      insert into webhook_delivery (webhook_id, subject_kind, subject_id, seq, event_at, event, created_at)
      select webhook_id, subject_kind, subject_id, seq, at, name, ${now}::bigint from found order by webhook_id, subject_id, seq
      returning webhook_id, subject_kind, subject_id
    ), queued as (
      insert into webhook_queue (webhook_id, subject_id, subject_kind, lane, due_at)
      select webhook_id, subject_id, subject_kind, 0, ${now}::bigint from added
      group by webhook_id, subject_id, subject_kind order by 1, 2
      on conflict (webhook_id, subject_id, lane) do update set due_at = webhook_queue.due_at
      returning webhook_id
    )
    select (select count(*) from added) as deliveries from queued limit 1`.execute(trx);
  if (rows.length > 0) await notifyAfterCommit(trx, WEBHOOK_CHANNEL, "");
  return Number(rows[0]?.deliveries ?? 0);
}
