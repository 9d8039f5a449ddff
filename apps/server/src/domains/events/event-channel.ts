import { sql } from "kysely";
import type { Trx } from "../schema.ts";

/** PostgreSQL tells every process that listens here, once a transaction is committed, whose logs have grown. */
export const EVENT_CHANNEL = "events";

/** Ids of 36 characters and a comma stay below PostgreSQL's 8000 bytes. */
const MAX_NAMED = 200;
const ANY = "*";

/** Once per batch, for a notification takes a lock that all writers share. */
export async function notifyEvents(trx: Trx, subjectIds: readonly string[]): Promise<void> {
  const payload = subjectIds.length > MAX_NAMED ? ANY : subjectIds.join();
  await sql`select pg_notify(${EVENT_CHANNEL}, ${payload})`.execute(trx);
}

/** The ids of the subjects of a notification; null for any. */
export const subjectsIn = (payload: string): readonly string[] | null => (payload === ANY ? null : payload.split(","));
