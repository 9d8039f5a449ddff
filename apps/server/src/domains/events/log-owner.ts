import { ownsStream } from "../owned-row.ts";
import type { Db, Owner } from "../schema.ts";
import type { Subject } from "../subject.ts";

/** Whether the subject belongs to the caller's project and is not deleted. So far only streams have a public log. */
export async function ownsLog(db: Db, owner: Pick<Owner, "projectId">, { kind, id }: Subject): Promise<boolean> {
  return kind === "stream" && (await ownsStream(db, owner, id));
}
