import { isId } from "../ids.ts";
import type { Db, Owner } from "../schema.ts";
import type { Subject } from "../subject.ts";

/** Whether the subject belongs to the caller's project and is not deleted. So far only streams have a public log. */
export async function ownsLog(
  db: Db,
  { projectId }: Pick<Owner, "projectId">,
  { kind, id }: Subject,
): Promise<boolean> {
  if (kind !== "stream" || !isId(id)) return false;
  const found = await db
    .selectFrom("stream")
    .select("id")
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return found !== undefined;
}
