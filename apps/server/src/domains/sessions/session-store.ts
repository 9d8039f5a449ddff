import { type RawBuilder, sql } from "kysely";
import { type ListFields, type ListRequest, type Page, readPage } from "../api/index.ts";
import { isId, isPlaybackId } from "../ids.ts";
import type { Db, Owner, Trx } from "../schema.ts";
import type { SessionWithParent } from "./session-record.ts";

const int = (name: string) => ({ kind: "int", column: sql.ref(`e.${name}`) }) as const;

export const sessionFields: ListFields = {
  id: { kind: "id", column: sql.ref("e.id") },
  parentId: { kind: "id", column: sql.ref("e.stream_id") },
  projectId: { kind: "id", column: sql.ref("e.project_id") },
  name: { kind: "search", column: sql.ref("e.name") },
  record: { kind: "boolean", column: sql.ref("e.record") },
  recordingStatus: { kind: "text", column: sql.ref("e.recording") },
  createdAt: int("created_at"),
  lastSeen: int("last_seen"),
  sourceSegments: int("source_segments"),
  sourceSegmentsDuration: int("source_segments_duration"),
  sourceBytes: int("source_bytes"),
  transcodedSegments: int("transcoded_segments"),
  transcodedSegmentsDuration: int("transcoded_segments_duration"),
  transcodedBytes: int("transcoded_bytes"),
  ingestRate: int("ingest_rate"),
  outgoingRate: int("outgoing_rate"),
};

const columns = sql`e.*, s.playback_id as stream_playback_id, s.playback_policy as stream_policy, s.state as stream_state, s.issues as stream_issues, s.transcoding as stream_transcoding, s.target_states as stream_target_states`;
const joined = sql`session e join stream s on s.id = e.stream_id`;

export async function findSession(db: Db, owner: Owner, id: string): Promise<SessionWithParent | undefined> {
  if (!isId(id)) return undefined;
  const { rows } = await sql<SessionWithParent>`
    select ${columns} from ${joined} where e.id = ${id} and e.project_id = ${owner.projectId}`.execute(db);
  return rows[0];
}

/** The stream's latest session. */
export async function findLatestSession(
  db: Db,
  owner: Owner,
  streamId: string,
): Promise<SessionWithParent | undefined> {
  const { rows } = await sql<SessionWithParent>`
    select ${columns} from ${joined} where e.stream_id = ${streamId} and e.project_id = ${owner.projectId}
    order by e.ended_at is null desc, e.created_at desc, e.id limit 1`.execute(db);
  return rows[0];
}

export async function listSessions(
  db: Db,
  owner: Owner,
  list: ListRequest,
  also: RawBuilder<unknown>,
): Promise<Page<SessionWithParent>> {
  const where = sql`e.project_id = ${owner.projectId} and ${list.where} and ${also}`;
  return readPage(db, list, { from: joined, columns, where });
}

/** Whether the project has a stream with this id, or playback id if `byPlaybackId`, that is not deleted. */
export async function ownsStream(
  db: Db,
  owner: Owner,
  text: string,
  column: "id" | "playback_id" = "id",
): Promise<boolean> {
  if (!(column === "id" ? isId(text) : isPlaybackId(text))) return false;
  const row = await db
    .selectFrom("stream")
    .select("id")
    .where(column, "=", text)
    .where("project_id", "=", owner.projectId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}

export async function sessionsOfStreams(trx: Trx, streamIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{
    id: string;
  }>`select id from session where stream_id = any(${streamIds}::uuid[])`.execute(trx);
  return rows.map(({ id }) => id);
}

/** The stream's sessions that are worth listing: seen, and with media. */
export const withMedia = (streamId: string, record: boolean | null): RawBuilder<unknown> =>
  sql`e.stream_id = ${streamId} and e.last_seen > 0 and e.source_segments_duration > 0
    and ${record === null ? sql`true` : sql`e.record = ${record}`}`;
