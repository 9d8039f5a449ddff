import type { Project } from "@weir/contract";
import { sql } from "kysely";
import { ApiError, type Principal } from "../api/index.ts";
import { isId, newId } from "../ids.ts";
import type { Db, ProjectRow, Trx } from "../schema.ts";

/** A project that cannot be deleted yet; the text names the obstacle. */
export const projectInUse = (message: string) => new ApiError(409, "project-in-use", message);

export const MAX_PROJECTS = 1000;

const projectRecord = (row: ProjectRow): Project => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  originalsForKeysOnly: row.originals_for_keys_only,
  createdAt: Number(row.created_at),
});

/** All projects of the account, or the one project that the caller can access. */
function visible(db: Db | Trx, { userId, keyProjectId, reach }: Principal) {
  const ofAccount = db.selectFrom("project").selectAll().where("user_id", "=", userId).where("deleted_at", "is", null);
  return reach === "project" ? ofAccount.where("id", "=", keyProjectId) : ofAccount;
}

export async function listProjects(db: Db, principal: Principal): Promise<Project[]> {
  const rows = await visible(db, principal).orderBy("created_at").orderBy("id").limit(MAX_PROJECTS).execute();
  return rows.map(projectRecord);
}

export async function findProject(db: Db | Trx, principal: Principal, id: string): Promise<Project | null> {
  const row = isId(id) ? await visible(db, principal).where("id", "=", id).executeTakeFirst() : undefined;
  return row ? projectRecord(row) : null;
}

export async function countProjects(db: Db | Trx, principal: Principal): Promise<number> {
  const { n } = await visible(db, principal)
    .clearSelect()
    .select(sql<string>`count(*)`.as("n"))
    .executeTakeFirstOrThrow();
  return Number(n);
}

export async function insertProject(db: Db, { userId }: Principal, name: string, now: number): Promise<Project> {
  const row = { id: newId(), user_id: userId, name, created_at: now };
  return projectRecord(await db.insertInto("project").values(row).returningAll().executeTakeFirstOrThrow());
}

/** False if the project does not exist. */
export async function changeProject(
  db: Db,
  principal: Principal,
  id: string,
  { name, originalsForKeysOnly }: Pick<Project, "name" | "originalsForKeysOnly">,
): Promise<boolean> {
  const result = await db
    .updateTable("project")
    .set({ name, originals_for_keys_only: originalsForKeysOnly })
    .where("id", "=", id)
    .where("user_id", "=", principal.userId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Delete a project that has no streams, and its keys. Throws `project-in-use`. Its recordings are deleted with its streams. */
export async function deleteProject(trx: Trx, principal: Principal, id: string, now: number): Promise<void> {
  const stream = await trx
    .selectFrom("stream")
    .select("id")
    .where("project_id", "=", id)
    .where("deleted_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  if (stream) throw projectInUse("the project still has streams: delete them first");
  await trx.deleteFrom("api_key").where("project_id", "=", id).where("user_id", "=", principal.userId).execute();
  await trx
    .updateTable("project")
    .set({ deleted_at: now })
    .where("id", "=", id)
    .where("user_id", "=", principal.userId)
    .execute();
}
