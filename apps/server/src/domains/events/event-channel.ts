import { notifyAfterCommit } from "../../platform/notifier.ts";
import type { Trx } from "../schema.ts";

/** PostgreSQL notifies every listening process, after the commit of a transaction, whose logs have grown. */
export const EVENT_CHANNEL = "events";

/** Ids of 36 characters and a comma keep a notification below PostgreSQL's limit of 8,000 bytes. */
const MAX_NAMED = 200;
const ANY = "*";

/** Once per batch, after the commit. */
export async function notifyEvents(trx: Trx, subjectIds: readonly string[]): Promise<void> {
  const payload = subjectIds.length > MAX_NAMED ? ANY : subjectIds.join();
  await notifyAfterCommit(trx, EVENT_CHANNEL, payload);
}

/** The subject ids of a notification; null means any subject. */
export const subjectsIn = (payload: string): readonly string[] | null => (payload === ANY ? null : payload.split(","));
