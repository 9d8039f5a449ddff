import { sql } from "kysely";
import type { AdmittedUpload, UploadGate } from "../../platform/uploads/upload-gate.ts";
import { UploadRefused } from "../../platform/uploads/upload-refused.ts";
import { assetPrefix } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import { isId } from "../ids.ts";
import type { AssetRow } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import { lockAsset, moveAsset, writeAsset } from "./asset-change.ts";
import { projectRoom } from "./project-room.ts";
import { readUploadToken } from "./upload-token.ts";

/** An upload that began is given up when no byte came for so long. */
const IDLE_MS = 24 * 3_600_000;

export interface UploadDeskDeps extends Deps, Pick<DomainConfig, "maxUploadBytes" | "assetBytesPerProject"> {
  readonly events: EventLog;
  uploadSecret(): Promise<Uint8Array>;
  readonly queueAsset: QueueAsset;
}

/** Queue what a worker has next to do for an asset: fetch its file, or process it. */
export type QueueAsset = (asset: Pick<AssetRow, "id" | "project_id" | "source_key" | "source">) => Promise<void>;

/** The key under which the file of an asset lies as it came. */
export const sourceKeyOf = ({ project_id, id }: Pick<AssetRow, "project_id" | "id">): string =>
  `${assetPrefix(project_id, id)}source/original`;

/** Who may upload the file of which asset, and what its arrival does to the asset. An upload has the id of its asset. */
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
    return { id, maxBytes: Math.min(maxUploadBytes, room ?? maxUploadBytes) };
  }

  async touched(id: string): Promise<void> {
    const { db, clock } = this.#deps;
    if (!isId(id)) return;
    await sql`update asset set upload_expires_at = greatest(upload_expires_at, ${clock.now() + IDLE_MS}::bigint)
      where id = ${id} and phase = 'uploading'`.execute(db);
  }

  async received(id: string, bytes: number): Promise<void> {
    const { db, clock, events } = this.#deps;
    await db.transaction().execute(async (trx) => {
      const row = await lockAsset(trx, id);
      if (row?.phase === "waiting" && row.source_key === null)
        return writeAsset(trx, row, { at: clock.now(), set: { size: bytes, progress: 0, error: null } });
      if (row?.phase !== "uploading" || row.deleted_at !== null)
        throw new UploadRefused(422, "asset has already been uploaded");
      const told = await moveAsset(trx, row, "received", { at: clock.now(), set: { size: bytes } });
      await events.append(trx, told);
    });
  }

  async keyOf(id: string): Promise<string | null> {
    const row = await this.#deps.db.selectFrom("asset").selectAll().where("id", "=", id).executeTakeFirst();
    return row?.phase === "waiting" && row.deleted_at === null ? sourceKeyOf(row) : null;
  }

  async stored(id: string, key: string): Promise<void> {
    const { db, clock, queueAsset } = this.#deps;
    const waiting = await db.transaction().execute(async (trx) => {
      const row = await lockAsset(trx, id);
      if (row?.phase !== "waiting") return null;
      await writeAsset(trx, row, { at: clock.now(), set: { source_key: key } });
      return row.deleted_at === null ? { ...row, source_key: key } : null;
    });
    if (waiting) await queueAsset(waiting);
  }

  async wanted(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await sql<{ id: string }>`
      select id from asset where id = any(${ids.filter(isId)}::uuid[]) and deleted_at is null
        and (phase = 'uploading' or (phase = 'waiting' and source_key is null))`.execute(this.#deps.db);
    return new Set(rows.map(({ id }) => id));
  }
}
