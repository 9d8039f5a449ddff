import type { NewTargetRef, TargetRef } from "@weir/contract";
import { sql, type UpdateObject } from "kysely";
import { BadRequest } from "../api-error.ts";
import { isId, newId } from "../ids.ts";
import { type ListFields, type ListRequest, type Page, pageOf } from "../list-query.ts";
import type { Db, NewStreamRow, Owner, Schema, StreamRow, Trx } from "../schema.ts";

const int = (name: string) => ({ kind: "int", column: sql.ref(name) }) as const;

export const streamFields: ListFields = {
  id: { kind: "id", column: sql.ref("id") },
  name: { kind: "search", column: sql.ref("name") },
  playbackId: { kind: "text", column: sql.ref("playback_id") },
  userId: { kind: "id", column: sql.ref("user_id") },
  projectId: { kind: "id", column: sql.ref("project_id") },
  creatorId: { kind: "text", column: sql.ref("creator_id") },
  "pull.source": { kind: "text", column: sql`pull->>'source'` },
  isActive: { kind: "boolean", column: sql`(state <> 'idle')` },
  record: { kind: "boolean", column: sql.ref("record") },
  suspended: { kind: "boolean", column: sql.ref("suspended") },
  createdAt: int("created_at"),
  lastSeen: int("last_seen"),
  sourceSegments: int("source_segments"),
  sourceSegmentsDuration: int("source_segments_duration"),
  transcodedSegments: int("transcoded_segments"),
  transcodedSegmentsDuration: int("transcoded_segments_duration"),
};

/** Streams of the project that are not deleted: nothing else is ever seen. */
const owned = (db: Db | Trx, owner: Owner) =>
  db.selectFrom("stream").selectAll().where("project_id", "=", owner.projectId).where("deleted_at", "is", null);

export async function insertStream(trx: Trx, row: NewStreamRow): Promise<StreamRow> {
  return trx.insertInto("stream").values(row).returningAll().executeTakeFirstOrThrow();
}

export async function findStream(db: Db | Trx, owner: Owner, id: string): Promise<StreamRow | undefined> {
  return isId(id) ? owned(db, owner).where("id", "=", id).executeTakeFirst() : undefined;
}

/** The same, and the row stays locked until the transaction ends. */
export async function findStreamForUpdate(trx: Trx, owner: Owner, id: string): Promise<StreamRow | undefined> {
  return isId(id) ? owned(trx, owner).where("id", "=", id).forUpdate().executeTakeFirst() : undefined;
}

/** Which of these ids are streams of the project. */
export async function countStreams(trx: Trx, owner: Owner, ids: readonly string[]): Promise<number> {
  const { rows } = await sql<{ n: string }>`
    select count(*) as n from stream where id = any(${ids}::uuid[]) and project_id = ${owner.projectId} and deleted_at is null`.execute(
    trx,
  );
  return Number(rows[0]?.n);
}

export async function updateStream(
  trx: Trx,
  owner: Owner,
  id: string,
  change: UpdateObject<Schema, "stream">,
): Promise<void> {
  await trx.updateTable("stream").set(change).where("id", "=", id).where("project_id", "=", owner.projectId).execute();
}

export async function listStreams(
  db: Db,
  owner: Owner,
  list: ListRequest,
  activeOnly: boolean,
): Promise<Page<StreamRow>> {
  const where = sql`where project_id = ${owner.projectId} and deleted_at is null and ${list.where}
    and ${activeOnly ? sql`state <> 'idle'` : sql`true`}`;
  const { rows } = await sql<StreamRow>`
    select * from stream ${where} order by ${list.order} limit ${list.limit + 1} offset ${list.skip}`.execute(db);
  const count = list.wantsCount
    ? Number((await sql<{ n: string }>`select count(*) as n from stream ${where}`.execute(db)).rows[0]?.n)
    : null;
  return pageOf(list, rows, count);
}

/** Make targets of the `spec`s and check the `id`s. What a stream keeps is references. */
export async function resolveTargets(
  trx: Trx,
  owner: Owner,
  targets: readonly NewTargetRef[],
  now: number,
): Promise<TargetRef[]> {
  const refs: TargetRef[] = [];
  for (const { profile, videoOnly, id, spec } of targets) {
    const flags = { profile, ...(videoOnly === undefined ? {} : { videoOnly }) };
    if (spec) refs.push({ ...flags, id: await insertTarget(trx, owner, spec, now) });
    else if (id !== undefined && (await ownsTarget(trx, owner, id))) refs.push({ ...flags, id });
    else throw new BadRequest(`multistream target not found: "${id}"`);
  }
  return refs;
}

async function insertTarget(
  trx: Trx,
  owner: Owner,
  spec: NonNullable<NewTargetRef["spec"]>,
  now: number,
): Promise<string> {
  if (!URL.canParse(spec.url))
    throw new BadRequest("Bad URL of a multistream target: expected srt://, rtmp:// or rtmps://");
  const id = newId();
  const name = spec.name ?? new URL(spec.url).host;
  await trx
    .insertInto("multistream_target")
    .values({ id, project_id: owner.projectId, user_id: owner.userId, name, url: spec.url, created_at: now })
    .execute();
  return id;
}

async function ownsTarget(trx: Trx, owner: Owner, id: string): Promise<boolean> {
  if (!isId(id)) return false;
  const row = await trx
    .selectFrom("multistream_target")
    .select("id")
    .where("id", "=", id)
    .where("project_id", "=", owner.projectId)
    .executeTakeFirst();
  return row !== undefined;
}
