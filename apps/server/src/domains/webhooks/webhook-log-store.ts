import { sql } from "kysely";
import { type ListFields, type ListRequest, type Page, pageOf } from "../api/index.ts";
import { isId } from "../ids.ts";
import type { Db, NewWebhookLogRow, Owner, Trx, WebhookLogRow } from "../schema.ts";
import { deleteInSteps } from "./delete-in-steps.ts";

const KEPT_MS = 7 * 86_400_000;
const MAX_OF_ONE = 1000;

export const webhookLogFields: ListFields = {
  id: { kind: "id", column: sql.ref("id") },
  event: { kind: "text", column: sql.ref("event") },
  createdAt: { kind: "int", column: sql.ref("created_at") },
  statusCode: { kind: "int", column: sql.ref("status") },
  success: { kind: "boolean", column: sql.ref("success") },
  resourceId: { kind: "search", column: sql.ref("body") },
};

export async function insertWebhookLog(db: Db | Trx, row: NewWebhookLogRow): Promise<WebhookLogRow> {
  return db.insertInto("webhook_log").values(row).returningAll().executeTakeFirstOrThrow();
}

export async function findWebhookLog(
  db: Db,
  owner: Owner,
  webhookId: string,
  id: string,
): Promise<WebhookLogRow | undefined> {
  if (!isId(id) || !isId(webhookId)) return undefined;
  return db
    .selectFrom("webhook_log")
    .selectAll()
    .where("id", "=", id)
    .where("webhook_id", "=", webhookId)
    .where("project_id", "=", owner.projectId)
    .executeTakeFirst();
}

export async function listWebhookLogs(
  db: Db,
  owner: Owner,
  webhookId: string,
  list: ListRequest,
): Promise<Page<WebhookLogRow>> {
  const where = sql`where webhook_id = ${webhookId} and project_id = ${owner.projectId} and ${list.where}`;
  const { rows } = await sql<WebhookLogRow>`
    select * from webhook_log ${where} order by ${list.order} limit ${list.limit + 1} offset ${list.skip}`.execute(db);
  const count = list.wantsCount
    ? Number((await sql<{ n: string }>`select count(*) as n from webhook_log ${where}`.execute(db)).rows[0]?.n)
    : null;
  return pageOf(list, rows, count);
}

/** Calls older than 7 days, and calls beyond a webhook's latest 1,000. */
export async function forgetOldCalls(db: Db, now: number): Promise<void> {
  const old = sql`select id from webhook_log where created_at < ${now - KEPT_MS}::bigint`;
  await deleteInSteps(db, "webhook_log", old);
  const beyond = sql`
    select l.id from webhook w, lateral (
      select created_at from webhook_log where webhook_id = w.id order by created_at desc offset ${MAX_OF_ONE} limit 1
    ) newer, webhook_log l where l.webhook_id = w.id and l.created_at <= newer.created_at`;
  await deleteInSteps(db, "webhook_log", beyond);
}
