import { type RawBuilder, sql } from "kysely";
import type { Db } from "../schema.ts";

/** Far below what the time of one statement is enough for. */
const STEP = 10_000;

/** Delete the rows whose ids are found, however many: one statement would run out of time, and then again every time with more. */
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
