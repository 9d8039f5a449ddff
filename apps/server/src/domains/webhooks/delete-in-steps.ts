import { type RawBuilder, sql } from "kysely";
import type { Db } from "../schema.ts";

/** Far fewer rows than one statement has time for. */
const STEP = 10_000;

/** Delete the rows with the found ids, in batches: a single statement could time out, and would then time out again with even more rows. */
export async function deleteInSteps(
  db: Db,
  table: "webhook_delivery" | "webhook_log",
  found: RawBuilder<unknown>,
): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where id in (${found} limit ${STEP})`.execute(db);
    if (numAffectedRows === 0n) return;
  }
}
