import { sql } from "kysely";
import { type ListFields, type ListRequest, type Page, pageOf, type RawQuery, textOf } from "../api/index.ts";
import { isId } from "../ids.ts";
import type { AssetRow, Db, NewAssetRow, Owner, TaskRow, Trx } from "../schema.ts";

const int = (name: string) => ({ kind: "int", column: sql.ref(name) }) as const;
const text = (name: string) => ({ kind: "text", column: sql.ref(name) }) as const;
const id = (name: string) => ({ kind: "id", column: sql.ref(name) }) as const;

/** As the API shows it. */
const phase = sql`case when deleted_at is null then phase else 'deleting' end`;

export const assetFields: ListFields = {
  id: id("id"),
  name: { kind: "search", column: sql.ref("name") },
  playbackId: text("playback_id"),
  userId: id("user_id"),
  projectId: id("project_id"),
  creatorId: text("creator_id"),
  phase: { kind: "text", column: phase },
  "status.phase": { kind: "text", column: phase },
  sourceType: { kind: "text", column: sql`source->>'type'` },
  "source.type": { kind: "text", column: sql`source->>'type'` },
  sourceUrl: { kind: "text", column: sql`source->>'url'` },
  // There is no IPFS here: matches nothing.
  cid: { kind: "text", column: sql`null::text` },
  createdAt: int("created_at"),
  updatedAt: int("updated_at"),
  size: int("size"),
  duration: { kind: "int", column: sql`(video_spec->>'duration')::float8` },
};

export const taskFields: ListFields = {
  id: id("id"),
  type: text("type"),
  projectId: id("project_id"),
  userId: id("user_id"),
  inputAssetId: id("input_asset_id"),
  outputAssetId: id("output_asset_id"),
  phase: text("phase"),
  "status.phase": text("phase"),
  createdAt: int("created_at"),
  updatedAt: int("updated_at"),
};

/** One that is not deleted: others are not seen. */
export async function findAsset(db: Db | Trx, owner: Owner, assetId: string): Promise<AssetRow | undefined> {
  const row = await findAnyAsset(db, owner, assetId);
  return row?.deleted_at === null ? row : undefined;
}

/** One of the project, also where it is deleted and its bytes are still there. */
export async function findAnyAsset(db: Db | Trx, owner: Owner, assetId: string): Promise<AssetRow | undefined> {
  if (!isId(assetId)) return undefined;
  return db
    .selectFrom("asset")
    .selectAll()
    .where("id", "=", assetId)
    .where("project_id", "=", owner.projectId)
    .executeTakeFirst();
}

export async function findTask(db: Db, owner: Owner, taskId: string): Promise<TaskRow | undefined> {
  if (!isId(taskId)) return undefined;
  return db
    .selectFrom("task")
    .selectAll()
    .where("id", "=", taskId)
    .where("project_id", "=", owner.projectId)
    .executeTakeFirst();
}

/** The asset and the task that makes it. */
export async function insertAsset(
  trx: Trx,
  row: NewAssetRow,
  params: Record<string, unknown>,
  type: TaskRow["type"] = "upload",
): Promise<AssetRow> {
  const { project_id, user_id, created_at, task_id } = row;
  const task = { id: task_id, project_id, user_id, created_at, updated_at: created_at, output_asset_id: row.id };
  await trx
    .insertInto("task")
    .values({
      ...task,
      type,
      phase: row.phase === "uploading" ? "pending" : "waiting",
      params: JSON.stringify(params),
    })
    .execute();
  return trx.insertInto("asset").values(row).returningAll().executeTakeFirstOrThrow();
}

/** An asset of the project whose file is being fetched from this address, or is not processed yet. */
export async function findFetched(
  db: Db,
  { projectId }: Owner,
  { url, since }: { readonly url: string; readonly since: number },
): Promise<AssetRow | undefined> {
  const { rows } = await sql<AssetRow>`
    select * from asset where project_id = ${projectId} and source->>'url' = ${url} and phase in ('waiting', 'processing')
      and deleted_at is null and created_at > ${since}::bigint order by created_at limit 1`.execute(db);
  return rows[0];
}

/** Whether the project has so many uploads that are not finished, or more. */
export async function hasUploads(db: Db, { projectId }: Owner, count: number): Promise<boolean> {
  const { rows } = await sql`
    select from asset where project_id = ${projectId} and phase = 'uploading' and deleted_at is null
    offset ${count - 1} limit 1`.execute(db);
  return rows.length > 0;
}

/** Requested uploads of the project of which no byte came, oldest first. */
export async function findUnbegun(
  db: Db,
  { projectId }: Owner,
  { requestedBefore, tokenMs }: { readonly requestedBefore: number; readonly tokenMs: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from asset where project_id = ${projectId} and phase = 'uploading' and deleted_at is null
      and created_at <= ${requestedBefore}::bigint and upload_expires_at = created_at + ${tokenMs}::bigint
    order by created_at, id limit 20`.execute(db);
  return rows.map(({ id }) => id);
}

const DIRECT_FILTERS = ["playbackId", "sourceUrl", "phase", "cid"] as const;

/** Assets of the project; those that are deleted only where the query asks for that phase. */
export async function listAssets(db: Db, owner: Owner, list: ListRequest, query: RawQuery): Promise<Page<AssetRow>> {
  const direct = DIRECT_FILTERS.flatMap((name) => {
    const value = textOf(query[name]);
    return value === undefined ? [] : [sql`${assetFields[name]?.column ?? sql`null`} = ${value}`];
  });
  const visible = query.phase === "deleting" ? sql`true` : sql`deleted_at is null`;
  const where = sql`where ${sql.join([sql`project_id = ${owner.projectId}`, visible, list.where, ...direct], sql` and `)}`;
  return readPage<AssetRow>(db, "asset", list, where);
}

export async function listTasks(db: Db, owner: Owner, list: ListRequest): Promise<Page<TaskRow>> {
  return readPage<TaskRow>(db, "task", list, sql`where project_id = ${owner.projectId} and ${list.where}`);
}

async function readPage<Row>(
  db: Db,
  table: "asset" | "task",
  list: ListRequest,
  where: ReturnType<typeof sql>,
): Promise<Page<Row>> {
  const { rows } = await sql<Row>`
    select * from ${sql.table(table)} ${where} order by ${list.order} limit ${list.limit + 1} offset ${list.skip}`.execute(
    db,
  );
  const count = list.wantsCount
    ? Number((await sql<{ n: string }>`select count(*) as n from ${sql.table(table)} ${where}`.execute(db)).rows[0]?.n)
    : null;
  return pageOf(list, rows, count);
}
