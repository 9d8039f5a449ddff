import type { Stream } from "@weir/contract";
import type { Db } from "../schema.ts";
import { streamRecord } from "./stream-record.ts";

/** A stream as it is now, whosever it is and deleted or not; null for none. For who has it from an event of the stream. */
export async function readStream(db: Db, id: string): Promise<Stream | null> {
  const row = await db.selectFrom("stream").selectAll().where("id", "=", id).executeTakeFirst();
  return row ? streamRecord(row) : null;
}
