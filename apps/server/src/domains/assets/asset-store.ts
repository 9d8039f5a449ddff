import { type RawBuilder, sql } from "kysely";
import { fieldsOf, hasRows, type ListFields, type RawQuery, textOf } from "../api/index.ts";
import { findOwned } from "../owned-row.ts";
import type { AssetRow, Db, Owner, Trx } from "../schema.ts";

/** As the API shows it. */
const phase = sql`case when deleted_at is null then phase else 'deleting' end`;

export const assetFields: ListFields = {
  ...fieldsOf({
    id: ["id", "userId", "projectId"],
    search: ["name"],
    text: ["playbackId", "creatorId"],
    int: ["createdAt", "updatedAt", "size"],
  }),
  phase: { kind: "text", column: phase },
  "status.phase": { kind: "text", column: phase },
  sourceType: { kind: "text", column: sql`source->>'type'` },
  "source.type": { kind: "text", column: sql`source->>'type'` },
  sourceUrl: { kind: "text", column: sql`source->>'url'` },
  // There is no IPFS here: matches nothing.
  cid: { kind: "text", column: sql`null::text` },
  duration: { kind: "int", column: sql`(video_spec->>'duration')::float8` },
};

/** An asset of the project that is not deleted. */
export async function findAsset(db: Db | Trx, owner: Owner, assetId: string): Promise<AssetRow | undefined> {
  const row = await findAnyAsset(db, owner, assetId);
  return row?.deleted_at === null ? row : undefined;
}

/** An asset of the project, deleted or not. */
export const findAnyAsset = (db: Db | Trx, owner: Owner, assetId: string): Promise<AssetRow | undefined> =>
  findOwned(db, "asset", owner, assetId);

/** An asset of the project that is being fetched from this URL, or was and is being processed. */
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

/** Whether the project has at least this many unfinished uploads. */
export const hasUploads = (db: Db, { projectId }: Owner, count: number): Promise<boolean> =>
  hasRows(db, sql`asset`, sql`project_id = ${projectId} and phase = 'uploading' and deleted_at is null`, count);

/** Requested uploads of the project without a byte, oldest first. */
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

/** Which assets a query asks for. Deleted ones are included only if it filters by the phase `deleting`. */
export function assetsOf(query: RawQuery): RawBuilder<unknown> {
  const direct = DIRECT_FILTERS.flatMap((name) => {
    const value = textOf(query[name]);
    return value === undefined ? [] : [sql`${assetFields[name]?.column ?? sql`null`} = ${value}`];
  });
  const visible = query.phase === "deleting" ? sql`true` : sql`deleted_at is null`;
  return sql.join([visible, ...direct], sql` and `);
}
