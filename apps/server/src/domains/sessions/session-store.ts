import { type RawBuilder, sql } from "kysely";
import { fieldsOf, type ListFields, type ListRequest, type Page, readPage } from "../api/index.ts";
import { isId } from "../ids.ts";
import type { Db, Owner, Trx } from "../schema.ts";
import type { SessionWithParent } from "./session-record.ts";

export const sessionFields: ListFields = {
  ...fieldsOf({ id: ["id", "projectId"], search: ["name"], boolean: ["record"], int: ["createdAt", "lastSeen"] }, "e"),
  ...fieldsOf({ int: ["sourceSegments", "sourceSegmentsDuration", "sourceBytes", "ingestRate"] }, "e"),
  ...fieldsOf({ int: ["transcodedSegments", "transcodedSegmentsDuration", "transcodedBytes", "outgoingRate"] }, "e"),
  parentId: { kind: "id", column: sql.ref("e.stream_id") },
  recordingStatus: { kind: "text", column: sql.ref("e.recording") },
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
