import type { Access, ApiToken } from "@weir/contract";
import { sql } from "kysely";
import { type ListFields, type ListRequest, type Page, pageOf } from "../api/index.ts";
import { isId, newId } from "../ids.ts";
import type { ApiKeyRow, Db, Owner } from "../schema.ts";
import { hashSecret, keyPrefix } from "./api-key.ts";

export const apiTokenFields: ListFields = {
  id: { kind: "id", column: sql.ref("id") },
  name: { kind: "search", column: sql.ref("name") },
  createdAt: { kind: "int", column: sql.ref("created_at") },
  lastSeen: { kind: "int", column: sql.ref("last_used_at") },
};

/** The public columns of a key; never its hash. */
const apiTokenRecord = (row: ApiKeyRow): ApiToken => ({
  id: row.id,
  kind: "api-token",
  userId: row.user_id,
  projectId: row.project_id,
  name: row.name,
  keyPrefix: row.prefix,
  ...(row.access ? { access: row.access } : {}),
  ...(row.account_wide ? { accountWide: true } : {}),
  createdAt: Number(row.created_at),
  ...(row.last_used_at === null ? {} : { lastSeen: Number(row.last_used_at) }),
});

/** Store the hash of a new key. */
export async function insertApiToken(
  db: Db,
  owner: Owner,
  made: { key: string; name: string; access: Access | null; now: number },
): Promise<ApiToken> {
  const row = await db
    .insertInto("api_key")
    .values({
      id: newId(),
      project_id: owner.projectId,
      user_id: owner.userId,
      name: made.name,
      prefix: keyPrefix(made.key),
      hash: hashSecret(made.key),
      access: made.access && JSON.stringify(made.access),
      created_at: made.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return apiTokenRecord(row);
}

export async function findApiToken(db: Db, { projectId }: Owner, id: string): Promise<ApiToken | null> {
  if (!isId(id)) return null;
  const row = await db
    .selectFrom("api_key")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  return row ? apiTokenRecord(row) : null;
}

export async function listApiTokens(db: Db, { projectId }: Owner, list: ListRequest): Promise<Page<ApiToken>> {
  const where = sql`where project_id = ${projectId} and ${list.where}`;
  const { rows } = await sql<ApiKeyRow>`
    select * from api_key ${where} order by ${list.order} limit ${list.limit + 1} offset ${list.skip}`.execute(db);
  const count = list.wantsCount ? await countApiTokens(db, where) : null;
  return pageOf(list, rows.map(apiTokenRecord), count);
}

/** The number of the project's matching keys. */
export async function countApiTokens(db: Db, where: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ n: string }>`select count(*) as n from api_key ${where}`.execute(db);
  return Number(rows[0]?.n);
}

/** Deleting a key also deletes the dashboard sessions that it signed in. */
export async function deleteApiToken(db: Db, { projectId }: Owner, id: string): Promise<void> {
  await db.deleteFrom("api_key").where("id", "=", id).where("project_id", "=", projectId).execute();
}
