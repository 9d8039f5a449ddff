import type { Stream } from "@weir/contract";
import type { Db } from "../schema.ts";
import { streamRecord } from "./stream-record.ts";

/** The current state of a stream, in any project and even if deleted; null if it does not exist. For callers who know it from one of its events. */
export async function readStream(db: Db, id: string): Promise<Stream | null> {
  const row = await db.selectFrom("stream").selectAll().where("id", "=", id).executeTakeFirst();
  return row ? streamRecord(row) : null;
}
