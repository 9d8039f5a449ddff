import type { Person } from "@weir/contract";
import { sql } from "kysely";
import { countRows, fieldsOf } from "../api/index.ts";
import { isId, newId } from "../ids.ts";
import type { Db, Owner, PersonRow, Trx } from "../schema.ts";
import { hashSecret } from "./api-key.ts";

export const personFields = fieldsOf({ id: ["id"], search: ["name"], int: ["createdAt", "lastSeen"] });

/** The public columns of a person; never the hash. */
export const personRecord = (row: PersonRow): Person => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  createdAt: Number(row.created_at),
  ...(row.last_seen === null ? {} : { lastSeen: Number(row.last_seen) }),
});

/** Null if the name is taken. */
export async function insertPerson(
  db: Db,
  { userId }: Owner,
  made: { name: string; passwordHash: string; now: number },
): Promise<Person | null> {
  const row = await db
    .insertInto("person")
    .values({ id: newId(), user_id: userId, name: made.name, password_hash: made.passwordHash, created_at: made.now })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returningAll()
    .executeTakeFirst();
  return row ? personRecord(row) : null;
}

export const countPeople = (db: Db, { userId }: Owner): Promise<number> =>
  countRows(db, sql`person`, sql`user_id = ${userId}`);

/** A person of the account, with the hash. */
export async function findPerson(db: Db, { userId }: Owner, id: string): Promise<PersonRow | undefined> {
  if (!isId(id)) return undefined;
  return db.selectFrom("person").selectAll().where("id", "=", id).where("user_id", "=", userId).executeTakeFirst();
}

/** The person with this login name, in any account. */
export async function findPersonByName(
  db: Db,
  name: string,
): Promise<(PersonRow & { suspended: boolean }) | undefined> {
  return db
    .selectFrom("person")
    .innerJoin("account", "account.id", "person.user_id")
    .selectAll("person")
    .select("account.suspended")
    .where("person.name", "=", name)
    .executeTakeFirst();
}

/**
 * Sign in with this password. False if the password was changed, or the person removed, since the row was read. Neither can happen until the
 * transaction ends, so both also end the session that starts in it.
 */
export async function notePersonSeen(trx: Trx, { id, password_hash }: PersonRow, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("person")
    .set({ last_seen: now })
    .where("id", "=", id)
    .where("password_hash", "=", password_hash)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Change the password and end the person's sessions, except the one with this token. */
export async function setPassword(
  db: Db,
  { userId }: Owner,
  id: string,
  change: { passwordHash: string; keptToken: string | undefined },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable("person")
      .set({ password_hash: change.passwordHash })
      .where("id", "=", id)
      .where("user_id", "=", userId)
      .execute();
    await trx
      .deleteFrom("dashboard_session")
      .where("person_id", "=", id)
      .where("hash", "!=", hashSecret(change.keptToken ?? ""))
      .execute();
  });
}

/** Removing a person also ends their sessions. */
export async function deletePerson(db: Db, { userId }: Owner, id: string): Promise<void> {
  await db.deleteFrom("person").where("id", "=", id).where("user_id", "=", userId).execute();
}
