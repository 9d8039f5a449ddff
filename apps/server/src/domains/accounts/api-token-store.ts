import type { Access, ApiToken } from "@weir/contract";
import { sql } from "kysely";
import { countRows, fieldsOf, type ListFields } from "../api/index.ts";
import { newId } from "../ids.ts";
import type { ApiKeyRow, Db, Owner } from "../schema.ts";
import { hashSecret, keyPrefix } from "./api-key.ts";

export const apiTokenFields: ListFields = {
  ...fieldsOf({ id: ["id"], search: ["name"], int: ["createdAt"] }),
  lastSeen: { kind: "int", column: sql.ref("last_used_at") },
};

/** The public columns of a key; never its hash. */
export const apiTokenRecord = (row: ApiKeyRow): ApiToken => ({
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

export const countApiTokens = (db: Db, { projectId }: Owner): Promise<number> =>
  countRows(db, sql`api_key`, sql`project_id = ${projectId}`);
