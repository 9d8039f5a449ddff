import { isId } from "../ids.ts";
import type { Db, Owner } from "../schema.ts";

/** Whether the stream is of the asker's project and not deleted. */
export async function ownsStreamLog(
  db: Db,
  { projectId }: Pick<Owner, "projectId">,
  streamId: string,
): Promise<boolean> {
  if (!isId(streamId)) return false;
  const found = await db
    .selectFrom("stream")
    .select("id")
    .where("id", "=", streamId)
    .where("project_id", "=", projectId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return found !== undefined;
}
