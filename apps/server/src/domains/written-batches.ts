import { sql } from "kysely";
import type { Db, Trx } from "./schema.ts";

/** Far longer than a batch waits for a database that is away. */
const KEPT_MS = 7 * 86_400_000;

/** What one writer writes in one transaction. Numbers rise; a batch that got no answer keeps its number, and is not changed. */
export interface Batch {
  readonly writer: string;
  readonly number: number;
}

/**
 * Note the batch, as the first statement of its transaction. False if an earlier attempt was committed, though its answer was lost. It waits for an attempt
 * whose transaction is still open.
 */
export async function noteBatch(trx: Trx, { writer, number }: Batch, now: number): Promise<boolean> {
  const { rows } = await sql`
    insert into written_batch as b (writer, number, written_at) values (${writer}::uuid, ${number}::bigint, ${now}::bigint)
    on conflict (writer) do update set number = excluded.number, written_at = excluded.written_at where b.number < excluded.number
    returning 1`.execute(trx);
  return rows.length > 0;
}

/** Those of processes that are gone. */
export async function forgetOldBatches(db: Db, now: number): Promise<void> {
  await sql`delete from written_batch where written_at < ${now - KEPT_MS}::bigint`.execute(db);
}
