import type { Session } from "@weir/contract";
import type { Db, Owner } from "../schema.ts";
import { sessionRecord } from "./session-record.ts";
import { findSession } from "./session-store.ts";

/** A session of the project as it is now; null for none. */
export async function readSession(db: Db, owner: Owner, id: string, publicUrl: string): Promise<Session | null> {
  const row = await findSession(db, owner, id);
  return row ? sessionRecord(row, { publicUrl }) : null;
}
