import type { Pull } from "@weir/contract";
import { sql } from "kysely";
import { BadRequest, hasRows } from "../api/index.ts";
import type { Owner, StreamRow, Trx } from "../schema.ts";

/** Of one project at a time. */
const MAX_PULLS_PER_PROJECT = 100;

/** Which field finds the stream that a request replaces. */
export type PullKey = "pull.source" | "creatorId";

export function pullKeyOf(text: string | undefined): PullKey {
  if (text === undefined || text === "" || text === "pull.source") return "pull.source";
  if (text === "creatorId") return text;
  throw new BadRequest("key must be pull.source or creatorId");
}

/** The streams of the project with this value. Until the transaction ends no other one looks for it, so that two requests do not create two. */
export async function lockStreamsToPull(
  trx: Trx,
  { projectId }: Owner,
  key: PullKey,
  value: string,
): Promise<StreamRow[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`pull ${projectId} ${key} ${value}`}, 0))`.execute(trx);
  return (
    trx
      .selectFrom("stream")
      .selectAll()
      .where("project_id", "=", projectId)
      .where("deleted_at", "is", null)
      .where(key === "creatorId" ? sql`creator_id` : sql`pull->>'source'`, "=", value)
      // Locked in the order of their ids, as everywhere.
      .orderBy("id")
      .limit(2)
      .forUpdate()
      .execute()
  );
}

/** Has a media node pull the stream. `goesOn`: one that does already is left alone. */
export async function startPull(
  trx: Trx,
  { projectId }: Owner,
  id: string,
  { at, goesOn }: { readonly at: number; readonly goesOn: boolean },
): Promise<void> {
  const others = sql`project_id = ${projectId} and pull_wanted and deleted_at is null and id <> ${id}`;
  if (await hasRows(trx, sql`stream`, others, MAX_PULLS_PER_PROJECT))
    throw new BadRequest(`a project may pull ${MAX_PULLS_PER_PROJECT} streams at a time: terminate one first`);
  await sql`
    update stream set pull_wanted = true, pull_version = pull_version + 1, pull_status = ${JSON.stringify({ state: "waiting", since: at })}::jsonb
    where id = ${id} and project_id = ${projectId} and not (pull_wanted and ${goesOn})`.execute(trx);
}

/** What a row becomes with another source, from which a pull then goes on, or with none. */
export function changedPull(row: StreamRow, pull: Pull | null, at: number) {
  const isWanted = row.pull_wanted && pull !== null;
  return {
    pull: pull && JSON.stringify(pull),
    pull_wanted: isWanted,
    pull_version: Number(row.pull_version) + 1,
    pull_status: isWanted ? JSON.stringify({ state: "waiting", since: at }) : null,
  };
}

/** What a row becomes when its broadcast is terminated: its source is not asked again. */
export function endedPull(at: number) {
  const reason = "The stream was terminated. Start the pull again to go on.";
  return { pull_wanted: false, pull_status: JSON.stringify({ state: "ended", since: at, reason }) };
}
