import { sql } from "kysely";
import { countRows, fieldsOf, found, hasRows, type ListFields } from "../api/index.ts";
import { verdictInSql } from "../health-verdict.ts";
import { isId, isPlaybackId, isStreamKey } from "../ids.ts";
import type { Db, Owner, StreamRow, Trx } from "../schema.ts";

const COUNTED = ["sourceSegments", "sourceSegmentsDuration", "transcodedSegments", "transcodedSegmentsDuration"];

export const streamFields: ListFields = {
  ...fieldsOf({
    id: ["id", "userId", "projectId"],
    search: ["name"],
    text: ["playbackId", "creatorId"],
    boolean: ["record", "suspended"],
    int: ["createdAt", "lastSeen", ...COUNTED],
  }),
  // No stream has a parent, and accounts have no e-mail address: filters on either match nothing.
  parentId: { kind: "id", column: sql`null::uuid` },
  "user.email": { kind: "text", column: sql`null::text` },
  // Without its user name, password, query and RTMP stream name, so that nobody finds them by filtering.
  "pull.source": {
    kind: "text",
    column: sql`regexp_replace(regexp_replace(regexp_replace(pull->>'source', '^([a-zA-Z]+://)[^/?#]*@', '\\1'), '[?#].*$', ''), '^(rtmps?://.*/)[^/]*$', '\\1', 'i')`,
  },
  isActive: { kind: "boolean", column: sql`(state <> 'idle')` },
  isHealthy: { kind: "boolean", column: verdictInSql },
};

/** Streams of the project that are not deleted. No other stream is ever visible. */
const owned = (db: Db | Trx, owner: Owner) =>
  db.selectFrom("stream").selectAll().where("project_id", "=", owner.projectId).where("deleted_at", "is", null);

export async function findStream(db: Db | Trx, owner: Owner, id: string): Promise<StreamRow | undefined> {
  return isId(id) ? owned(db, owner).where("id", "=", id).executeTakeFirst() : undefined;
}

export async function findStreamBy(
  db: Db,
  owner: Owner,
  column: "playback_id" | "stream_key",
  value: string,
): Promise<StreamRow | undefined> {
  const isOne = column === "playback_id" ? isPlaybackId(value) : isStreamKey(value);
  return isOne ? owned(db, owner).where(column, "=", value).executeTakeFirst() : undefined;
}

/** The stream with this id. Its row stays locked until the transaction ends. Throws `NotFound`. */
export async function lockStream(trx: Trx, owner: Owner, id: string): Promise<StreamRow> {
  return found(isId(id) ? await owned(trx, owner).where("id", "=", id).forUpdate().executeTakeFirst() : null);
}

/** How many of these ids are streams of the project. */
export const countStreams = (trx: Trx, { projectId }: Owner, ids: readonly string[]): Promise<number> =>
  countRows(trx, sql`stream`, sql`id = any(${ids}::uuid[]) and project_id = ${projectId} and deleted_at is null`);

/** Whether the project has at least this many streams. */
export const hasStreams = (db: Db, { projectId }: Owner, count: number): Promise<boolean> =>
  hasRows(db, sql`stream`, sql`project_id = ${projectId} and deleted_at is null`, count);
