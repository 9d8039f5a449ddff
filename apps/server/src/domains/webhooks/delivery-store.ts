import type { WebhookEventName } from "@weir/contract";
import { sql } from "kysely";
import { notifyAfterCommit } from "../../platform/notifier.ts";
import type { Db, NewWebhookLogRow, Trx } from "../schema.ts";
import type { Subject } from "../subject.ts";
import { deleteInSteps } from "./delete-in-steps.ts";
import { WEBHOOK_CHANNEL } from "./delivery-outbox.ts";

const KEPT_MS = 7 * 86_400_000;
/** Long enough for a call and its record. A claim of a dead process expires after this time, or when the node restarts. */
export const CLAIM_MS = 60_000;

/** Deliveries of one webhook about one subject, in one lane. */
export interface QueueKey {
  readonly webhookId: string;
  readonly subject: Subject;
  readonly lane: string;
}

/** The first delivery of a queue, with everything that its call needs. */
export interface QueueHead {
  readonly id: string;
  readonly event: WebhookEventName;
  readonly seq: number;
  readonly eventAt: number;
  readonly attempts: number;
  readonly firstTriedAt: number | null;
  readonly isLate: boolean;
  /** Null if it was deleted. */
  readonly webhook: {
    readonly id: string;
    readonly projectId: string;
    readonly userId: string;
    readonly url: string;
    readonly sharedSecret: string | null;
    readonly isPaused: boolean;
  } | null;
  /** The content of the event; null if the log has dropped it. */
  readonly data: Readonly<Record<string, unknown>> | null;
}

const at = ({ webhookId, subject, lane }: QueueKey) =>
  sql`webhook_id = ${webhookId} and subject_id = ${subject.id} and lane = ${lane}::bigint`;

export interface ClaimRequest {
  readonly nodeId: string;
  readonly now: number;
  readonly limit: number;
  readonly limitOfOne: number;
  readonly limitOfProject: number;
  /** Number of a webhook's queues that are currently being worked on. */
  readonly busy: ReadonlyMap<string, number>;
}

const isDue = (now: number) => sql`q.due_at <= ${now}::bigint and q.claimed_until <= ${now}::bigint`;

/** Whether there may be a queue to claim. Costs far less than a claim. */
export async function hasDueQueue(db: Db, now: number): Promise<boolean> {
  const { rows } = await sql`select from webhook_queue q where ${isDue(now)} limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Claim queues whose first delivery is due: a limited number per webhook, so that a hanging one delays only itself, and per project. Projects
 * take turns. Within a project, webhooks with the fewest claims come first, so that a few busy ones do not take every free slot.
 */
export async function claimQueues(db: Db, claim: ClaimRequest): Promise<QueueKey[]> {
  const { nodeId, now, limit, limitOfOne, limitOfProject, busy } = claim;
  const { rows } = await sql<QueueKey>`
    with working as (
      select b.id, b.n, coalesce(w.project_id, b.id) as project_id
      from unnest(${[...busy.keys()]}::uuid[], ${[...busy.values()]}::int[]) as b(id, n) left join webhook w on w.id = b.id
    ), due as (
      select q.webhook_id, coalesce(w.project_id, q.webhook_id) as project_id, coalesce(b.n, 0) as busy, min(q.due_at) as first,
        least(${limitOfOne}::int - coalesce(b.n, 0), count(*)) as wanted
      from webhook_queue q left join webhook w on w.id = q.webhook_id left join working b on b.id = q.webhook_id
      where ${isDue(now)} and w.paused_at is null and coalesce(b.n, 0) < ${limitOfOne}::int
      group by q.webhook_id, w.project_id, b.n
    ), fair as (
      select d.*, ${limitOfProject}::int - coalesce((select sum(n) from working p where p.project_id = d.project_id), 0)
        - coalesce(sum(d.wanted) over (partition by d.project_id order by d.busy, d.first, d.webhook_id
            rows between unbounded preceding and 1 preceding), 0) as free
      from due d
    ), taken as (
      select t.webhook_id, t.subject_id, t.lane
      from (select * from fair where free > 0 order by free desc, busy, first) d cross join lateral (
        select q.webhook_id, q.subject_id, q.lane from webhook_queue q where q.webhook_id = d.webhook_id and ${isDue(now)}
        order by q.due_at limit least(d.wanted, d.free) for update skip locked
      ) t limit ${limit}
    )
    update webhook_queue q set claimed_by = ${nodeId}, claimed_until = ${now + CLAIM_MS}::bigint from taken t
    where (q.webhook_id, q.subject_id, q.lane) = (t.webhook_id, t.subject_id, t.lane)
    returning q.webhook_id as "webhookId", json_build_object('kind', q.subject_kind, 'id', q.subject_id) as subject, q.lane`.execute(
    db,
  );
  return rows;
}

/** Lock queues of a webhook that no worker has, until the transaction ends. */
export async function lockWaitingQueues(trx: Trx, webhookId: string, now: number, limit: number): Promise<QueueKey[]> {
  const { rows } = await sql<QueueKey>`
    select q.webhook_id as "webhookId", json_build_object('kind', q.subject_kind, 'id', q.subject_id) as subject, q.lane
    from webhook_queue q where q.webhook_id = ${webhookId} and q.claimed_until <= ${now}::bigint
    order by q.webhook_id, q.subject_id, q.lane limit ${limit} for update skip locked`.execute(trx);
  return rows;
}

/** Release the claims of a node whose process ended. */
export async function releaseClaims(db: Db, nodeId: string): Promise<void> {
  await sql`update webhook_queue set claimed_by = null, claimed_until = 0 where claimed_by = ${nodeId}`.execute(db);
}

/** Extend a claim by a minute. Returns whether the node still holds it. */
export async function keepClaim(db: Db, key: QueueKey, nodeId: string, now: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update webhook_queue set claimed_until = ${now + CLAIM_MS}::bigint
    where ${at(key)} and claimed_by = ${nodeId}`.execute(db);
  return numAffectedRows > 0n;
}

/** The first deliveries of a queue, in order. */
export async function readHeads(db: Db | Trx, key: QueueKey, limit: number): Promise<QueueHead[]> {
  const { rows } = await sql<{
    id: string;
    event: WebhookEventName;
    seq: string;
    event_at: string;
    attempts: number;
    first_tried_at: string | null;
    webhook: QueueHead["webhook"];
    data: Record<string, unknown> | null;
  }>`
    select d.id, d.event, d.seq, d.event_at, d.attempts, d.first_tried_at, e.data,
      case when w.id is not null then jsonb_build_object('id', w.id, 'projectId', w.project_id, 'userId', w.user_id, 'url', w.url,
        'sharedSecret', w.shared_secret, 'isPaused', w.paused_at is not null) end as webhook
    from (select * from webhook_delivery where ${at(key)} order by seq, id limit ${limit}) d
    left join webhook w on w.id = d.webhook_id
    left join lateral (
      select data from event_lifecycle where subject_id = d.subject_id and seq = d.seq and at = d.event_at
      union all select data from event_telemetry where subject_id = d.subject_id and seq = d.seq and at = d.event_at
    ) e on true order by d.seq, d.id`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    event: row.event,
    seq: Number(row.seq),
    eventAt: Number(row.event_at),
    attempts: row.attempts,
    firstTriedAt: row.first_tried_at === null ? null : Number(row.first_tried_at),
    isLate: key.lane !== "0",
    webhook: row.webhook,
    data: row.data,
  }));
}

export interface PutOff {
  readonly deliveryId: string;
  readonly at: number;
  readonly attempts: number;
  readonly firstTriedAt: number;
  /** The delivery leaves the lane of the others, which continue. */
  readonly leavesLane: boolean;
}

/** The first delivery of a queue becomes due again later. Releases the claim unless the delivery leaves its lane. */
export async function putOff(trx: Trx, key: QueueKey, nodeId: string, delivery: PutOff): Promise<void> {
  const { deliveryId, attempts, firstTriedAt, leavesLane } = delivery;
  const due = sql`${delivery.at}::bigint`;
  if (leavesLane) {
    await sql`insert into webhook_queue (webhook_id, subject_kind, subject_id, lane, due_at)
      values (${key.webhookId}, ${key.subject.kind}, ${key.subject.id}, ${deliveryId}::bigint, ${due}) on conflict do nothing`.execute(
      trx,
    );
  } else {
    await sql`update webhook_queue set due_at = ${due}, claimed_by = null, claimed_until = 0
      where ${at(key)} and claimed_by = ${nodeId}`.execute(trx);
  }
  await sql`update webhook_delivery set attempts = ${attempts}, first_tried_at = ${firstTriedAt}::bigint,
    lane = ${leavesLane ? sql`id` : sql`lane`} where id = ${deliveryId}::bigint`.execute(trx);
}

/** The delivery is delivered, given up, or has nothing left to report. */
export async function deleteDelivery(db: Db | Trx, id: string): Promise<void> {
  await sql`delete from webhook_delivery where id = ${id}::bigint`.execute(db);
}

/** Delete a queue without deliveries; false if it has one after all. */
export async function finishQueue(trx: Trx, key: QueueKey): Promise<boolean> {
  // Lock first: whoever adds a delivery holds the lock until the delivery is visible.
  await sql`select from webhook_queue where ${at(key)} for update`.execute(trx);
  const { rows } = await sql`select from webhook_delivery where ${at(key)} limit 1`.execute(trx);
  if (rows.length === 0) await sql`delete from webhook_queue where ${at(key)}`.execute(trx);
  return rows.length === 0;
}

/** Delete the whole queue, because its webhook is gone. */
export async function dropQueue(trx: Trx, key: QueueKey): Promise<void> {
  await sql`select from webhook_queue where ${at(key)} for update`.execute(trx);
  await sql`delete from webhook_delivery where ${at(key)}`.execute(trx);
  await sql`delete from webhook_queue where ${at(key)}`.execute(trx);
}

/** Release a claim; the first delivery of the queue stays due. */
export async function releaseQueue(db: Db, key: QueueKey, nodeId: string): Promise<void> {
  await sql`update webhook_queue set claimed_by = null, claimed_until = 0
    where ${at(key)} and claimed_by = ${nodeId}`.execute(db);
}

export interface CallNote {
  readonly webhookId: string;
  readonly log: NewWebhookLogRow;
  readonly failure: object | null;
  /** After this many failures in a row the webhook pauses. */
  readonly pauseAfter: number;
  /** The delivery that this call completes. */
  readonly overId: string | null;
}

/** Record the outcome of a call in one statement: its log, its webhook's status, the end of its delivery. Returns whether it paused the webhook. */
export async function noteCall(
  db: Db | Trx,
  { webhookId, log, failure, pauseAfter, overId }: CallNote,
): Promise<boolean> {
  const at = sql`${log.created_at}::bigint`;
  const isTooMany = sql`failures + 1 >= ${pauseAfter} and paused_at is null`;
  // Successes are recorded with a resolution of a second. Otherwise all calls of a webhook would wait for one another's commit, because they
  // lock its row.
  const change =
    failure === null
      ? sql`failures = 0 where (failures > 0 or coalesce(last_triggered_at, 0) <= ${at} - 1000)`
      : sql`failures = failures + 1, last_failure = ${JSON.stringify(failure)}::jsonb,
          paused_at = case when ${isTooMany} then ${at} else paused_at end,
          pause_reason = case when ${isTooMany} then ${`${pauseAfter} calls in a row failed`} else pause_reason end
          where true`;
  const { rows } = await sql<{ failures: number; paused_at: string | null }>`
    with logged as (${db.insertInto("webhook_log").values(log)}),
    over as (delete from webhook_delivery where id = ${overId}::bigint)
    update webhook set last_triggered_at = ${at}, ${change} and id = ${webhookId}
    returning failures, paused_at`.execute(db);
  return rows[0]?.failures === pauseAfter && rows[0].paused_at !== null;
}

/** A webhook resumes after its pause: everything that waits is due now, with its full retry time. */
export async function resumeQueues(db: Db, webhookId: string, now: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`select from webhook_queue where webhook_id = ${webhookId} order by subject_id, lane for update`.execute(
      trx,
    );
    await sql`update webhook_delivery set attempts = 0, first_tried_at = null
      where webhook_id = ${webhookId} and first_tried_at is not null`.execute(trx);
    await sql`update webhook_queue set due_at = ${now}::bigint where webhook_id = ${webhookId}`.execute(trx);
    await notifyAfterCommit(trx, WEBHOOK_CHANNEL, "");
  });
}

/** Delete deliveries that waited for 7 days, which only happens to those of paused webhooks. Their queues are deleted at the next check. */
export async function forgetOldDeliveries(db: Db, now: number): Promise<void> {
  const old = sql`select id from webhook_delivery where created_at < ${now - KEPT_MS}::bigint`;
  await deleteInSteps(db, "webhook_delivery", old);
}
