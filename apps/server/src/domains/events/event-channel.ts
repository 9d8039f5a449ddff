import { sql } from "kysely";
import type { Trx } from "../schema.ts";

/** PostgreSQL notifies every listening process, after the commit of a transaction, whose logs have grown. */
export const EVENT_CHANNEL = "events";

/** Ids of 36 characters and a comma keep a notification below PostgreSQL's limit of 8,000 bytes. */
const MAX_NAMED = 200;
const ANY = "*";

/** Once per batch, because a notification takes a lock that all writers share. */
export async function notifyEvents(trx: Trx, subjectIds: readonly string[]): Promise<void> {
  const payload = subjectIds.length > MAX_NAMED ? ANY : subjectIds.join();
  await sql`select pg_notify(${EVENT_CHANNEL}, ${payload})`.execute(trx);
}

/** The subject ids of a notification; null means any subject. */
export const subjectsIn = (payload: string): readonly string[] | null => (payload === ANY ? null : payload.split(","));
