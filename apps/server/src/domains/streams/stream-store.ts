import { sql } from "kysely";
import { found, type ListFields } from "../api/index.ts";
import { verdictInSql } from "../health-verdict.ts";
import { isId, isPlaybackId, isStreamKey } from "../ids.ts";
import type { Db, Owner, StreamRow, Trx } from "../schema.ts";

const int = (name: string) => ({ kind: "int", column: sql.ref(name) }) as const;

export const streamFields: ListFields = {
  id: { kind: "id", column: sql.ref("id") },
  name: { kind: "search", column: sql.ref("name") },
  playbackId: { kind: "text", column: sql.ref("playback_id") },
  userId: { kind: "id", column: sql.ref("user_id") },
  projectId: { kind: "id", column: sql.ref("project_id") },
  // No stream has a parent, and accounts have no e-mail address: filters on either match nothing.
  parentId: { kind: "id", column: sql`null::uuid` },
  "user.email": { kind: "text", column: sql`null::text` },
  creatorId: { kind: "text", column: sql.ref("creator_id") },
  // Without its user name and password, so that nobody finds them by filtering.
  "pull.source": { kind: "text", column: sql`regexp_replace(pull->>'source', '^([a-zA-Z]+://)[^/?#]*@', '\\1')` },
  isActive: { kind: "boolean", column: sql`(state <> 'idle')` },
  isHealthy: { kind: "boolean", column: verdictInSql },
  record: { kind: "boolean", column: sql.ref("record") },
  suspended: { kind: "boolean", column: sql.ref("suspended") },
  createdAt: int("created_at"),
  lastSeen: int("last_seen"),
  sourceSegments: int("source_segments"),
  sourceSegmentsDuration: int("source_segments_duration"),
  transcodedSegments: int("transcoded_segments"),
  transcodedSegmentsDuration: int("transcoded_segments_duration"),
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

/** Those of these ids that are streams of the project. */
export async function countStreams(trx: Trx, owner: Owner, ids: readonly string[]): Promise<number> {
  const { rows } = await sql<{ n: string }>`
    select count(*) as n from stream where id = any(${ids}::uuid[]) and project_id = ${owner.projectId} and deleted_at is null`.execute(
    trx,
  );
  return Number(rows[0]?.n);
}

/** Whether the project has at least this many streams. */
export async function hasStreams(db: Db, { projectId }: Owner, count: number): Promise<boolean> {
  const { rows } = await sql`
    select from stream where project_id = ${projectId} and deleted_at is null offset ${count - 1} limit 1`.execute(db);
  return rows.length > 0;
}
