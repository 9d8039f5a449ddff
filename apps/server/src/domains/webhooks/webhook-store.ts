import { sql } from "kysely";
import { countRows, fieldsOf } from "../api/index.ts";
import { isId } from "../ids.ts";
import type { Db, Owner, Trx, WebhookRow } from "../schema.ts";

/** The figures next to a webhook in responses: waiting deliveries, counted up to 1,000. */
export interface WebhookWithQueue extends WebhookRow {
  readonly waiting: string;
}

/** The fields that an access call needs. */
export interface AccessWebhook {
  readonly id: string;
  readonly url: string;
  readonly sharedSecret: string | null;
}

export const webhookFields = fieldsOf({
  id: ["id", "userId", "projectId"],
  search: ["name", "url"],
  text: ["streamId"],
  int: ["createdAt"],
});

export const columns = sql`*, (select count(*) from (
  select from webhook_delivery d where d.webhook_id = webhook.id limit 1000) n) as waiting`;

export const countWebhooks = (db: Db, { projectId }: Owner): Promise<number> =>
  countRows(db, sql`webhook`, sql`project_id = ${projectId}`);

export async function findWebhook(db: Db, owner: Owner, id: string): Promise<WebhookWithQueue | undefined> {
  if (!isId(id)) return undefined;
  const { rows } = await sql<WebhookWithQueue>`
    select ${columns} from webhook where id = ${id} and project_id = ${owner.projectId}`.execute(db);
  return rows[0];
}

/** The project's webhook with this id, if it is an access webhook. */
export async function findAccessWebhook(
  db: Db | Trx,
  projectId: string,
  id: string,
): Promise<AccessWebhook | undefined> {
  if (!isId(id)) return undefined;
  const { rows } = await sql<AccessWebhook>`
    select id, url, shared_secret as "sharedSecret" from webhook
    where id = ${id} and project_id = ${projectId} and 'playback.accessControl' = any(events)`.execute(db);
  return rows[0];
}

/** The outcome of the last access call. It never pauses the webhook, because viewers need its answers. */
export async function noteAccessCall(db: Db, id: string, at: number, failure: object | null): Promise<void> {
  const last = failure === null ? sql`last_failure` : sql`${JSON.stringify(failure)}::jsonb`;
  await sql`update webhook set last_triggered_at = ${at}::bigint, last_failure = ${last} where id = ${id}`.execute(db);
}

/** Delete all of these with their logs, or none if one does not belong to the owner. The delivery worker sweeps their queues. */
export async function deleteWebhooks(trx: Trx, owner: Owner, ids: readonly string[]): Promise<boolean> {
  const { rows } = await sql`
    select id from webhook where id = any(${ids}::uuid[]) and project_id = ${owner.projectId} order by id for update`.execute(
    trx,
  );
  if (rows.length !== ids.length) return false;
  await sql`delete from webhook where id = any(${ids}::uuid[])`.execute(trx);
  await sql`delete from webhook_log where webhook_id = any(${ids}::uuid[])`.execute(trx);
  return true;
}
