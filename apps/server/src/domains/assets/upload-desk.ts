import { sql } from "kysely";
import type { AdmittedUpload, UploadGate } from "../../platform/uploads/upload-gate.ts";
import { UploadRefused } from "../../platform/uploads/upload-refused.ts";
import { assetPrefix } from "../../ports/index.ts";
import type { EventDeps } from "../events/index.ts";
import { isId } from "../ids.ts";
import { isNodeRunning } from "../nodes/index.ts";
import type { AssetRow } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import type { QueueTask } from "../tasks/index.ts";
import { lockAsset, moveAsset, writeAsset } from "./asset-change.ts";
import { queueAsset } from "./asset-task.ts";
import { projectRoom } from "./project-room.ts";
import { readUploadToken } from "./upload-token.ts";

/** An upload without a byte for this long is abandoned. */
const IDLE_MS = 24 * 3_600_000;

export interface UploadDeskDeps extends EventDeps, Pick<DomainConfig, "maxUploadBytes" | "assetBytesPerProject"> {
  readonly node: { readonly id: string };
  uploadSecret(): Promise<Uint8Array>;
  readonly queueTask: QueueTask;
}

/** The key of an asset's original file. */
export const sourceKeyOf = ({ project_id, id }: Pick<AssetRow, "project_id" | "id">): string =>
  `${assetPrefix(project_id, id)}source/original`;

/** Decides who may upload the file of an asset, and moves the asset when the file arrives. An upload has the id of its asset. */
export class UploadDesk implements UploadGate {
  readonly #deps: UploadDeskDeps;

  constructor(deps: UploadDeskDeps) {
    this.#deps = deps;
  }

  async admit(token: string | null, bytes: number | null): Promise<AdmittedUpload> {
    const { db, clock, maxUploadBytes, assetBytesPerProject, uploadSecret } = this.#deps;
    if (token === null || token === "") throw new UploadRefused(401, "the address has no upload token");
    const id = readUploadToken(await uploadSecret(), token, clock.now());
    if (id === null) throw new UploadRefused(403, "Invalid signed upload URL");
    const { rows } = await sql<
      Pick<AssetRow, "phase" | "deleted_at" | "project_id" | "source_key"> & { suspended: boolean }
    >`
      select s.phase, s.deleted_at, s.project_id, s.source_key, a.suspended
      from asset s join account a on a.id = s.user_id where s.id = ${id}`.execute(db);
    const [row] = rows;
    if (!row || row.deleted_at !== null) throw new UploadRefused(404, "Asset not found");
    if (row.suspended) throw new UploadRefused(403, "the account is suspended");
    if (row.phase === "failed" && row.source_key === null)
      throw new UploadRefused(403, "this upload has expired: request another one");
    if (row.phase !== "uploading") throw new UploadRefused(422, "asset has already been uploaded");
    if (bytes !== null && bytes > maxUploadBytes)
      throw new UploadRefused(413, `the file is larger than ${maxUploadBytes} bytes, the most that is taken`);
    const room = await projectRoom(db, row.project_id, assetBytesPerProject);
    if (room !== null && (bytes ?? 1) > room)
      throw new UploadRefused(
        413,
        "the project has no room for this file: delete assets or recordings, or ask for more",
      );
    if (!(await this.#take(id)))
      throw new UploadRefused(409, "this upload is under way at another server: continue it there, or try again later");
    return { id, maxBytes: Math.min(maxUploadBytes, room ?? maxUploadBytes) };
  }

  async released(id: string): Promise<void> {
    const { db, node } = this.#deps;
    await sql`update asset set upload_node_id = null where id = ${id} and upload_node_id = ${node.id}`.execute(db);
  }

  async elsewhere(id: string): Promise<string | null> {
    const { db, node } = this.#deps;
    if (!isId(id)) return null;
    const { rows } = await sql<{ upload_node_id: string }>`
      select upload_node_id from asset where id = ${id} and upload_node_id <> ${node.id} and ${isNodeRunning(sql`upload_node_id`)}`.execute(
      db,
    );
    return rows[0]?.upload_node_id ?? null;
  }

  /** This node's spool has the files of these nodes, by their names, which are started no more. */
  async adopt(nodes: readonly string[]): Promise<void> {
    const { db, node } = this.#deps;
    await sql`update asset set upload_node_id = ${node.id} from node n
      where n.id = upload_node_id and n.name = any(${nodes}::text[])`.execute(db);
  }

  async touched(id: string): Promise<void> {
    const { db, clock } = this.#deps;
    if (!isId(id)) return;
    await sql`update asset set upload_expires_at = greatest(upload_expires_at, ${clock.now() + IDLE_MS}::bigint)
      where id = ${id} and phase = 'uploading'`.execute(db);
  }

  async received(id: string, bytes: number): Promise<string> {
    const { db, clock, events } = this.#deps;
    return db.transaction().execute(async (trx) => {
      const row = await lockAsset(trx, id);
      if (row && !this.#isHere(row)) throw new UploadRefused(409, "another server received this file");
      const isWaiting = row?.phase === "waiting" && row.source_key === null;
      if (row?.deleted_at !== null || !(isWaiting || row.phase === "uploading"))
        throw new UploadRefused(422, "asset has already been uploaded");
      const change = { at: clock.now(), set: { size: bytes, progress: 0, error: null } };
      if (isWaiting) await writeAsset(trx, row, change);
      else await events.append(trx, await moveAsset(trx, row, "received", change));
      return sourceKeyOf(row);
    });
  }

  async stored(id: string): Promise<void> {
    const { db, clock, queueTask } = this.#deps;
    const waiting = await db.transaction().execute(async (trx) => {
      const row = await lockAsset(trx, id);
      if (row?.phase !== "waiting" || !this.#isHere(row)) return null;
      const stored = { ...row, source_key: sourceKeyOf(row) };
      await writeAsset(trx, row, { at: clock.now(), set: { source_key: stored.source_key } });
      return row.deleted_at === null ? stored : null;
    });
    if (waiting) await queueAsset(queueTask, waiting);
  }

  async wanted(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await sql<{ id: string }>`
      select id from asset where id = any(${ids.filter(isId)}::uuid[]) and deleted_at is null
        and (phase = 'uploading' or (phase = 'waiting' and source_key is null))
        and coalesce(upload_node_id, ${this.#deps.node.id}) = ${this.#deps.node.id}`.execute(this.#deps.db);
    return new Set(rows.map(({ id }) => id));
  }

  /** From its first byte an upload belongs to one spool, or two nodes would each have a part of it. A spool whose node is gone keeps nothing from others. */
  async #take(id: string): Promise<boolean> {
    const { db, node } = this.#deps;
    const { rows } = await sql`
      update asset set upload_node_id = ${node.id} where id = ${id} and phase = 'uploading'
        and (upload_node_id is null or upload_node_id = ${node.id} or not ${isNodeRunning(sql`upload_node_id`)})
      returning id`.execute(db);
    return rows.length > 0;
  }

  #isHere({ upload_node_id }: Pick<AssetRow, "upload_node_id">): boolean {
    return upload_node_id === null || upload_node_id === this.#deps.node.id;
  }
}
