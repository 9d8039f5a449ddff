import type { SigningKey, SigningKeyPatch } from "@weir/contract";
import { sql } from "kysely";
import { type ListFields, type ListRequest, type Page, pageOf } from "../api/index.ts";
import { isId, newId } from "../ids.ts";
import type { Db, Owner, SigningKeyRow, Trx } from "../schema.ts";

export const signingKeyFields: ListFields = {
  id: { kind: "id", column: sql.ref("id") },
  name: { kind: "search", column: sql.ref("name") },
  projectId: { kind: "id", column: sql.ref("project_id") },
  disabled: { kind: "boolean", column: sql.ref("disabled") },
  createdAt: { kind: "int", column: sql.ref("created_at") },
  lastSeen: { kind: "int", column: sql.ref("last_seen") },
};

const signingKeyRecord = (row: SigningKeyRow): SigningKey => ({
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
  return countSigningKeys(trx, sql`where project_id = ${projectId}`);
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

export async function findSigningKey(db: Db, { projectId }: Owner, id: string): Promise<SigningKey | null> {
  if (!isId(id)) return null;
  const row = await db
    .selectFrom("signing_key")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  return row ? signingKeyRecord(row) : null;
}

export async function listSigningKeys(db: Db, { projectId }: Owner, list: ListRequest): Promise<Page<SigningKey>> {
  const where = sql`where project_id = ${projectId} and ${list.where}`;
  const { rows } = await sql<SigningKeyRow>`
    select * from signing_key ${where} order by ${list.order} limit ${list.limit + 1} offset ${list.skip}`.execute(db);
  return pageOf(list, rows.map(signingKeyRecord), list.wantsCount ? await countSigningKeys(db, where) : null);
}

/** Whether the key existed. */
export async function updateSigningKey(
  db: Db,
  { projectId }: Owner,
  id: string,
  patch: SigningKeyPatch,
): Promise<boolean> {
  if (!isId(id)) return false;
  const { numUpdatedRows } = await db
    .updateTable("signing_key")
    // Sets the id too, because even an empty patch must tell whether the key exists.
    .set({ id, ...patch })
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Whether the key existed. */
export async function deleteSigningKey(db: Db, { projectId }: Owner, id: string): Promise<boolean> {
  if (!isId(id)) return false;
  const { numDeletedRows } = await db
    .deleteFrom("signing_key")
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Keys seen after `staleAt` are left alone, so that only one of many processes writes. */
export async function markSigningKeySeen(db: Db, id: string, now: number, staleAt: number): Promise<void> {
  await sql`update signing_key set last_seen = ${now}::bigint
    where id = ${id} and coalesce(last_seen, 0) <= ${staleAt}::bigint`.execute(db);
}

async function countSigningKeys(db: Db | Trx, where: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ n: string }>`select count(*) as n from signing_key ${where}`.execute(db);
  return Number(rows[0]?.n);
}
