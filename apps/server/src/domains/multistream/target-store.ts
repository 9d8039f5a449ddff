import { sql, type UpdateObject } from "kysely";
import { type ListFields, type ListRequest, type Page, pageOf } from "../api/index.ts";
import { isId } from "../ids.ts";
import type { Db, NewTargetRow, Owner, Schema, TargetRow, Trx } from "../schema.ts";

export const targetFields: ListFields = {
  id: { kind: "id", column: sql.ref("id") },
  name: { kind: "search", column: sql.ref("name") },
  userId: { kind: "id", column: sql.ref("user_id") },
  projectId: { kind: "id", column: sql.ref("project_id") },
  disabled: { kind: "boolean", column: sql.ref("disabled") },
  createdAt: { kind: "int", column: sql.ref("created_at") },
};

export async function insertTarget(db: Db | Trx, row: NewTargetRow): Promise<TargetRow> {
  return db.insertInto("multistream_target").values(row).returningAll().executeTakeFirstOrThrow();
}

export async function findTarget(db: Db | Trx, owner: Owner, id: string): Promise<TargetRow | undefined> {
  if (!isId(id)) return undefined;
  return db
    .selectFrom("multistream_target")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", owner.projectId)
    .executeTakeFirst();
}

export async function listTargets(
  db: Db,
  owner: Owner,
  list: ListRequest,
  userId: string | undefined,
): Promise<Page<TargetRow>> {
  const where = sql`where project_id = ${owner.projectId} and ${list.where}
    and ${userId === undefined ? sql`true` : sql`user_id::text = ${userId}`}`;
  const { rows } = await sql<TargetRow>`
    select * from multistream_target ${where} order by ${list.order} limit ${list.limit + 1} offset ${list.skip}`.execute(
    db,
  );
  const count = list.wantsCount
    ? Number((await sql<{ n: string }>`select count(*) as n from multistream_target ${where}`.execute(db)).rows[0]?.n)
    : null;
  return pageOf(list, rows, count);
}

/** The streams with a session that name a target. */
export async function activeStreamsNaming(db: Db | Trx, owner: Owner, id: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from stream where project_id = ${owner.projectId} and state <> 'idle'
      and targets @> ${JSON.stringify([{ id }])}::jsonb order by id`.execute(db);
  return rows.map((row) => row.id);
}

/** Whether there was one to change. */
export async function updateTarget(
  db: Db,
  owner: Owner,
  id: string,
  change: UpdateObject<Schema, "multistream_target">,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("multistream_target")
    .set(change)
    .where("id", "=", id)
    .where("project_id", "=", owner.projectId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Delete a target and take it out of the streams that name it. Whether there was one. */
export async function deleteTarget(trx: Trx, owner: Owner, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("multistream_target")
    .where("id", "=", id)
    .where("project_id", "=", owner.projectId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  // Streams are locked in the order of their ids, as everywhere.
  await sql`
    with naming as (
      select id from stream where project_id = ${owner.projectId} and targets @> ${JSON.stringify([{ id }])}::jsonb
      order by id for update
    )
    update stream s set targets = (
      select coalesce(jsonb_agg(t order by n), '[]') from jsonb_array_elements(s.targets) with ordinality as f(t, n)
      where t->>'id' <> ${id}
    ) from naming where s.id = naming.id`.execute(trx);
  return true;
}
