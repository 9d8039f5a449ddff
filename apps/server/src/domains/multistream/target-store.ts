import { sql } from "kysely";
import { fieldsOf } from "../api/index.ts";
import { deleteOwned } from "../owned-row.ts";
import type { Db, Owner, Trx } from "../schema.ts";

export const targetFields = fieldsOf({
  id: ["id", "userId", "projectId"],
  search: ["name"],
  boolean: ["disabled"],
  int: ["createdAt"],
});

/** The streams with a session that name a target. */
export async function activeStreamsNaming(db: Db | Trx, owner: Owner, id: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from stream where project_id = ${owner.projectId} and state <> 'idle'
      and targets @> ${JSON.stringify([{ id }])}::jsonb order by id`.execute(db);
  return rows.map((row) => row.id);
}

/** Delete a target and take it out of the streams that name it. Whether there was one. */
export async function deleteTarget(trx: Trx, owner: Owner, id: string): Promise<boolean> {
  if (!(await deleteOwned(trx, "multistream_target", owner, id))) return false;
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
