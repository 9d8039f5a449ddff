import type { Session } from "@weir/contract";
import type { Db, Owner } from "../schema.ts";
import { sessionRecord } from "./session-record.ts";
import { findSession } from "./session-store.ts";

/** The current state of a session in the project; null if it does not exist. */
export async function readSession(db: Db, owner: Owner, id: string, publicUrl: string): Promise<Session | null> {
  const row = await findSession(db, owner, id);
  return row ? sessionRecord(row, { publicUrl }) : null;
}
