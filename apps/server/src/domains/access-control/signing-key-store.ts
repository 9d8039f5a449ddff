import type { SigningKey } from "@weir/contract";
import { sql } from "kysely";
import { countRows, fieldsOf } from "../api/index.ts";
import { newId } from "../ids.ts";
import type { Db, Owner, SigningKeyRow, Trx } from "../schema.ts";

export const signingKeyFields = fieldsOf({
  id: ["id", "projectId"],
  search: ["name"],
  boolean: ["disabled"],
  int: ["createdAt", "lastSeen"],
});

export const signingKeyRecord = (row: SigningKeyRow): SigningKey => ({
  id: row.id,
  kind: "signing-key",
  name: row.name,
  userId: row.user_id,
  projectId: row.project_id,
  publicKey: row.public_key,
  disabled: row.disabled,
  createdAt: Number(row.created_at),
  ...(row.last_seen === null ? {} : { lastSeen: Number(row.last_seen) }),
});

/** The number of the project's keys. Nobody else can add one until the transaction ends. */
export async function countSigningKeysForUpdate(trx: Trx, { projectId }: Owner): Promise<number> {
  await trx.selectFrom("project").select("id").where("id", "=", projectId).forNoKeyUpdate().execute();
  return countRows(trx, sql`signing_key`, sql`project_id = ${projectId}`);
}

export async function insertSigningKey(
  trx: Trx,
  { projectId, userId }: Owner,
  made: { name: string; publicKey: string; now: number },
): Promise<SigningKey> {
  const row = await trx
    .insertInto("signing_key")
    .values({
      id: newId(),
      project_id: projectId,
      user_id: userId,
      name: made.name,
      public_key: made.publicKey,
      created_at: made.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return signingKeyRecord(row);
}

/** Keys seen after `staleAt` are left alone, so that only one of many processes writes. */
export async function markSigningKeySeen(db: Db, id: string, now: number, staleAt: number): Promise<void> {
  await sql`update signing_key set last_seen = ${now}::bigint
    where id = ${id} and coalesce(last_seen, 0) <= ${staleAt}::bigint`.execute(db);
}
