import type {
  Asset,
  AssetPatch,
  AssetSource,
  NewAsset,
  NewAssetFromUrl,
  RequestedImport,
  RequestedUpload,
  Task,
  TranscodeProfile,
} from "@weir/contract";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import type { MediaControl } from "../../ports/index.ts";
import { checkPolicy, type FindAccessWebhook } from "../access-control/index.ts";
import {
  BadRequest,
  type ListRequest,
  NotFound,
  NotImplemented,
  type Page,
  type Principal,
  type RawQuery,
  RefusedUrl,
} from "../api/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog, NewEvent } from "../events/index.ts";
import { newId, newPlaybackId } from "../ids.ts";
import type { AssetRow, Owner, Trx } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import { assetEvent, lockAsset, moveAsset, taskEvent, writeAsset } from "./asset-change.ts";
import { AssetConflict, TooManyUploads } from "./asset-errors.ts";
import { type AssetView, assetRecord, taskRecord } from "./asset-record.ts";
import {
  findAnyAsset,
  findAsset,
  findFetched,
  findTask,
  findUnbegun,
  hasUploads,
  insertAsset,
  listAssets,
  listTasks,
} from "./asset-store.ts";
import { failUpload } from "./asset-upkeep.ts";
import { findAssetRecord } from "./recording-asset.ts";
import type { QueueAsset } from "./upload-desk.ts";
import { mintUploadToken, UPLOAD_TOKEN_MS } from "./upload-token.ts";

export interface AssetServiceDeps extends Deps, Pick<DomainConfig, "uploadsPerProject"> {
  readonly events: EventLog;
  readonly mediaControl: Pick<MediaControl, "accessChanged">;
  readonly findAccessWebhook: FindAccessWebhook;
  readonly outbound: Pick<Outbound, "refusalOf">;
  /** Whether uploads keep their original where they do not say. */
  keepOriginals(): boolean;
  uploadSecret(): Promise<Uint8Array>;
  readonly queueAsset: QueueAsset;
  /** Do a failed task once more that makes no asset. */
  retryCustomerTask(taskId: string): Promise<void>;
}

/** A second request for the same file within this time is the first one once more. */
const SAME_IMPORT_MS = 15 * 60_000;
/** A requested upload that has not begun for this long gives way to others, when the project has as many as it may have. */
const UNBEGUN_MS = 3_600_000;
const UNBEGUN = "The upload did not begin within an hour, and others needed its place: request another one.";
/** How long a deleted asset can be restored. */
const RESTORABLE_MS = 7 * 86_400_000;

/** The rules of assets. A change and its events are one transaction. */
export class AssetService {
  readonly #deps: AssetServiceDeps;

  constructor(deps: AssetServiceDeps) {
    this.#deps = deps;
  }

  async requestUpload(principal: Principal, input: NewAsset, publicUrl: string): Promise<RequestedUpload> {
    const { clock, uploadSecret } = this.#deps;
    refuseAbsentFeatures(input);
    await this.#makeRoomForUpload(principal);
    const expiresAt = clock.now() + UPLOAD_TOKEN_MS;
    const row = await this.create(principal, input, { source: { type: "directUpload" }, expiresAt });
    const token = mintUploadToken(await uploadSecret(), row.id, expiresAt);
    const base = `${publicUrl}/api/asset/upload`;
    return {
      url: `${base}/direct?token=${token}`,
      tusEndpoint: `${base}/tus?token=${token}`,
      asset: assetRecord(row, { publicUrl, details: true }),
      task: { id: row.task_id },
    };
  }

  /** At the limit, uploads that were requested long ago and never begun give way. Throws `TooManyUploads` if there are none. */
  async #makeRoomForUpload(owner: Owner): Promise<void> {
    const { db, clock, uploadsPerProject } = this.#deps;
    if (uploadsPerProject === 0 || !(await hasUploads(db, owner, uploadsPerProject))) return;
    const requestedBefore = clock.now() - UNBEGUN_MS;
    for (const id of await findUnbegun(db, owner, { requestedBefore, tokenMs: UPLOAD_TOKEN_MS }))
      await failUpload(this.#deps, id, requestedBefore + UPLOAD_TOKEN_MS, UNBEGUN);
    if (await hasUploads(db, owner, uploadsPerProject)) throw new TooManyUploads(uploadsPerProject);
  }

  /** Null `isNew` where the same file is being fetched already. */
  async import(
    principal: Principal,
    { url, ...input }: NewAssetFromUrl,
    publicUrl: string,
  ): Promise<RequestedImport & { readonly isNew: boolean }> {
    const { db, clock, outbound, queueAsset } = this.#deps;
    refuseAbsentFeatures(input);
    const refusal = outbound.refusalOf(url);
    if (refusal !== null) throw new RefusedUrl("files cannot be fetched from this url", refusal);
    const shown = (row: AssetRow, isNew: boolean) => ({
      asset: assetRecord(row, { publicUrl, details: true }),
      task: { id: row.task_id },
      isNew,
    });
    const fetched = await findFetched(db, principal, { url, since: clock.now() - SAME_IMPORT_MS });
    if (fetched) return shown(fetched, false);
    const row = await this.create(principal, input, { source: { type: "url", url }, expiresAt: null });
    await queueAsset(row);
    return shown(row, true);
  }

  /** An asset without its file: one that is to be uploaded until `expiresAt`, or one that is fetched. */
  async create(
    principal: Principal,
    input: NewAsset,
    { source, expiresAt }: { readonly source: AssetSource; readonly expiresAt: number | null },
  ): Promise<AssetRow> {
    const { db, clock, events, findAccessWebhook, keepOriginals } = this.#deps;
    checkLadder(input.profiles);
    await checkPolicy(findAccessWebhook, principal.projectId, input.playbackPolicy);
    const now = clock.now();
    const id = newId();
    return db.transaction().execute(async (trx) => {
      const { profiles, targetSegmentSizeSecs } = input;
      const url = source.type === "url" ? { url: source.url } : {};
      const row = await insertAsset(
        trx,
        {
          id,
          project_id: principal.projectId,
          user_id: principal.userId,
          created_by_token_name: principal.keyName,
          name: input.name,
          creator_id: creatorOf(input.creatorId) ?? null,
          playback_id: newPlaybackId(id),
          playback_policy: json(input.playbackPolicy),
          source: JSON.stringify(source),
          profiles: json(profiles),
          static_mp4: input.staticMp4 ?? null,
          target_segment_seconds: targetSegmentSizeSecs ?? null,
          keep_original: input.keepOriginal ?? keepOriginals(),
          retention_days: input.retentionDays ?? null,
          task_id: newId(),
          created_at: now,
          updated_at: now,
          phase: expiresAt === null ? "waiting" : "uploading",
          upload_expires_at: expiresAt,
        },
        {
          upload: {
            ...url,
            ...(profiles ? { profiles } : {}),
            ...(targetSegmentSizeSecs ? { targetSegmentSizeSecs } : {}),
          },
        },
      );
      await events.append(trx, [assetEvent(row, "asset.created", now), taskEvent(row, "task.spawned", now)]);
      return row;
    });
  }

  async get(owner: Owner, id: string, view: AssetView): Promise<Asset> {
    const asset = await findAssetRecord(this.#deps.db, owner, id, view);
    if (!asset) throw new NotFound("Asset not found");
    return asset;
  }

  async list(owner: Owner, list: ListRequest, query: RawQuery, view: AssetView): Promise<Page<Asset>> {
    const page = await listAssets(this.#deps.db, owner, list, query);
    return { ...page, items: page.items.map((row) => assetRecord(row, view)) };
  }

  async patch(owner: Owner, id: string, patch: AssetPatch, view: AssetView): Promise<Asset> {
    refuseAbsentFeatures(patch);
    await checkPolicy(this.#deps.findAccessWebhook, owner.projectId, patch.playbackPolicy);
    const row = await this.#change(owner, id, async (trx, before, at) => {
      const { name, creatorId, playbackPolicy, retentionDays } = patch;
      if (playbackPolicy !== undefined) {
        if (before.phase !== "ready") throw new AssetConflict("asset is not ready");
        if (isGated(before.playback_policy) !== isGated(playbackPolicy))
          throw new AssetConflict("cannot update playback policy from private to public or vice versa");
      }
      const set = {
        ...(name === undefined ? {} : { name }),
        ...(creatorId === undefined ? {} : { creator_id: creatorOf(creatorId) ?? null }),
        ...(playbackPolicy === undefined ? {} : { playback_policy: json(playbackPolicy) }),
        ...(retentionDays === undefined ? {} : { retention_days: retentionDays }),
      };
      if (Object.keys(set).length === 0) return [];
      await writeAsset(trx, before, { at, set });
      return [assetEvent(before, "asset.updated", at)];
    });
    if (patch.playbackPolicy !== undefined) await this.#refresh(row);
    return this.get(owner, id, view);
  }

  async delete(owner: Owner, id: string): Promise<void> {
    const deleted = await findAnyAsset(this.#deps.db, owner, id);
    if (deleted && deleted.deleted_at !== null) throw new BadRequest("asset is already deleted");
    const row = await this.#change(owner, id, async (trx, before, at) => {
      await writeAsset(trx, before, { at, set: { deleted_at: at, purge_at: at + RESTORABLE_MS } });
      return [
        assetEvent(before, "asset.updated", at),
        assetEvent(before, "asset.deleted", at),
        ...(before.phase === "ready" || before.phase === "failed" ? [] : [taskEvent(before, "task.updated", at)]),
      ];
    });
    await this.#refresh(row);
  }

  /** It goes on where it was. */
  async restore(owner: Owner, id: string): Promise<void> {
    const found = await findAnyAsset(this.#deps.db, owner, id);
    if (!found) throw new NotFound("Asset not found");
    const row = await this.#changeAny(found.id, async (trx, before, at) => {
      if (before.deleted_at === null) throw new BadRequest("asset is not deleted");
      // Its bytes are being removed.
      if (Number(before.purge_at) <= at) throw new NotFound("Asset not found");
      await writeAsset(trx, before, { at, set: { deleted_at: null, purge_at: null } });
      return [assetEvent(before, "asset.updated", at), taskEvent(before, "task.updated", at)];
    });
    await this.#refresh(row);
    if (isWorkFor(row)) await this.#deps.queueAsset(row);
  }

  /** Process a failed asset once more, from the file that is there. */
  async retry(owner: Owner, id: string): Promise<string> {
    const row = await this.#change(owner, id, async (trx, before, at) => {
      if (before.phase !== "failed") throw new AssetConflict("only failed assets can be retried");
      if (before.source_key === null && before.source.type === "directUpload")
        throw new AssetConflict("the file of this asset never arrived: create another asset and upload it there");
      return moveAsset(trx, before, "retry", {
        at,
        set: { attempt: before.attempt + 1, broken_runs: 0, playable_at: null },
      });
    });
    await this.#refresh(row);
    await this.#deps.queueAsset(row);
    return row.task_id;
  }

  async getTask(owner: Owner, id: string): Promise<Task> {
    const row = await findTask(this.#deps.db, owner, id);
    if (!row) throw new NotFound();
    return taskRecord(row);
  }

  async listTasks(owner: Owner, list: ListRequest): Promise<Page<Task>> {
    const page = await listTasks(this.#deps.db, owner, list);
    return { ...page, items: page.items.map(taskRecord) };
  }

  async retryTask(owner: Owner, id: string): Promise<Task> {
    const task = await findTask(this.#deps.db, owner, id);
    if (!task) throw new NotFound();
    if (task.output_asset_id === null) await this.#deps.retryCustomerTask(task.id);
    else if (task.phase === "cancelled") await this.restore(owner, task.output_asset_id ?? "");
    else if (task.phase === "failed") await this.retry(owner, task.output_asset_id ?? "");
    else throw new AssetConflict("only failed or cancelled tasks can be retried");
    return this.getTask(owner, id);
  }

  async #change(
    owner: Owner,
    id: string,
    change: (trx: Trx, row: AssetRow, at: number) => Promise<NewEvent[]>,
  ): Promise<AssetRow> {
    const found = await findAsset(this.#deps.db, owner, id);
    if (!found) throw new NotFound("Asset not found");
    return this.#changeAny(found.id, async (trx, row, at) => {
      if (row.deleted_at !== null) throw new NotFound("Asset not found");
      return change(trx, row, at);
    });
  }

  /** The row as it was. */
  async #changeAny(
    id: string,
    change: (trx: Trx, row: AssetRow, at: number) => Promise<NewEvent[]>,
  ): Promise<AssetRow> {
    const { db, clock, events } = this.#deps;
    return db.transaction().execute(async (trx) => {
      const row = await lockAsset(trx, id);
      if (!row) throw new NotFound("Asset not found");
      await events.append(trx, await change(trx, row, clock.now()));
      return row;
    });
  }

  async #refresh({ id, playback_id: playbackId }: AssetRow): Promise<void> {
    try {
      await this.#deps.mediaControl.accessChanged(playbackId);
    } catch (error) {
      // The rows say it already: viewers are asked about again within seconds.
      this.#deps.log.error({ err: error, assetId: id }, "could not notify media nodes of a changed asset");
    }
  }
}

/** Whether a worker has something to do for it. */
export const isWorkFor = ({ phase, source_key, source }: Pick<AssetRow, "phase" | "source_key" | "source">): boolean =>
  (phase === "waiting" || phase === "processing") && (source_key !== null || source.type !== "directUpload");

/** Clients of the public API send these fields with values that ask for nothing. */
function refuseAbsentFeatures({ storage, encryption }: Pick<AssetPatch, "storage" | "encryption">): void {
  const ipfs = typeof storage === "object" && storage !== null && "ipfs" in storage ? storage.ipfs : storage;
  if (ipfs !== undefined && ipfs !== null && ipfs !== false && !isEmptyObject(ipfs))
    throw new NotImplemented('this server stores no assets on IPFS: leave out storage, or send {"ipfs": false}');
  if (encryption !== undefined && encryption !== null)
    throw new NotImplemented(
      "this server takes no encrypted files: leave out encryption, and upload the file as it is",
    );
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

const isGated = (policy: NewAsset["playbackPolicy"]): boolean => policy?.type === "jwt" || policy?.type === "webhook";

const creatorOf = (creatorId: NewAsset["creatorId"]) => (typeof creatorId === "object" ? creatorId.value : creatorId);

const json = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value));

/** Ladders beyond their schema. */
export function checkLadder(profiles: readonly TranscodeProfile[] | null | undefined): void {
  if (!profiles) return;
  if (profiles.length === 0) throw new BadRequest("assets must have at least one profile");
  const names = new Set<string>();
  for (const { name } of profiles) {
    if (name === undefined) continue;
    if (name === "source") throw new BadRequest('profile cannot be named "source"');
    if (names.has(name)) throw new BadRequest(`duplicate profile name "${name}"`);
    names.add(name);
  }
}
