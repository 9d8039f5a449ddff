import { sql } from "kysely";
import { fieldsOf, type ListFields } from "../api/index.ts";
import { findOwned } from "../owned-row.ts";
import type { Db, Owner, WebhookLogRow } from "../schema.ts";
import { deleteInSteps } from "./delete-in-steps.ts";

const KEPT_MS = 7 * 86_400_000;
const MAX_OF_ONE = 1000;

export const webhookLogFields: ListFields = {
  ...fieldsOf({ id: ["id"], text: ["event"], int: ["createdAt"], boolean: ["success"] }),
  statusCode: { kind: "int", column: sql.ref("status") },
  resourceId: { kind: "search", column: sql.ref("body") },
};

export async function findWebhookLog(
  db: Db,
  owner: Owner,
  webhookId: string,
  id: string,
): Promise<WebhookLogRow | undefined> {
  const row = await findOwned(db, "webhook_log", owner, id);
  return row?.webhook_id === webhookId ? row : undefined;
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
