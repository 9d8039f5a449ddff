import { type Selectable, sql, type UpdateObject } from "kysely";
import { isId, isPlaybackId } from "./ids.ts";
import type { Db, Owner, Schema, Trx } from "./schema.ts";

type OwnedTable =
  | "asset"
  | "task"
  | "stream"
  | "api_key"
  | "signing_key"
  | "multistream_target"
  | "webhook"
  | "webhook_log";

/** The row of this project with this id; undefined if the id is another project's, or no id. */
export async function findOwned<Table extends OwnedTable>(
  db: Db | Trx,
  table: Table,
  { projectId }: Pick<Owner, "projectId">,
  id: string,
): Promise<Selectable<Schema[Table]> | undefined> {
  if (!isId(id)) return undefined;
  const { rows } = await sql<Selectable<Schema[Table]>>`
    select * from ${sql.table(table)} where id = ${id} and project_id = ${projectId}`.execute(db);
  return rows[0];
}

/** Change such a row; false if there is none. An empty change tells that, too. */
export async function updateOwned<Table extends OwnedTable>(
  db: Db | Trx,
  table: Table,
  { projectId }: Owner,
  id: string,
  change: UpdateObject<Schema, Table>,
): Promise<boolean> {
  if (!isId(id)) return false;
  const set = Object.entries({ id, ...change }).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} set ${sql.join(set)} where id = ${id} and project_id = ${projectId}`.execute(db);
  return numAffectedRows > 0n;
}

/** False if there is no such row. */
export async function deleteOwned(db: Db | Trx, table: OwnedTable, { projectId }: Owner, id: string): Promise<boolean> {
  if (!isId(id)) return false;
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where id = ${id} and project_id = ${projectId}`.execute(db);
  return numAffectedRows > 0n;
}

/** Whether the project has a stream with this id or playback id that is not deleted. */
export async function ownsStream(
  db: Db | Trx,
  { projectId }: Pick<Owner, "projectId">,
  text: string,
  column: "id" | "playback_id" = "id",
): Promise<boolean> {
  if (!(column === "id" ? isId(text) : isPlaybackId(text))) return false;
  const row = await db
    .selectFrom("stream")
    .select("id")
    .where(column, "=", text)
    .where("project_id", "=", projectId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}
