import type {
  Asset,
  AssetPatch,
  AssetSource,
  NewAsset,
  NewAssetFromUrl,
  RequestedImport,
  RequestedUpload,
  TranscodeProfile,
} from "@weir/contract";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import type { MediaControl } from "../../ports/index.ts";
import { checkPolicy, type FindAccessWebhook } from "../access-control/index.ts";
import { ApiError, BadRequest, found, NotFound, NotImplemented, type Principal, RefusedUrl } from "../api/index.ts";
import type { EventDeps, NewEvent } from "../events/index.ts";
import type { AssetRow, Owner, TaskRow, Trx } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import type { QueueTask } from "../tasks/index.ts";
import { assetEvent, eventOfTask, lockAsset, moveAsset, writeAsset } from "./asset-change.ts";
import { createAsset } from "./asset-creation.ts";
import { type AssetView, assetRecord } from "./asset-record.ts";
import { findAnyAsset, findAsset, findFetched, findUnbegun, hasUploads } from "./asset-store.ts";
import { queueAsset } from "./asset-task.ts";
import { failUpload } from "./asset-upkeep.ts";
import { findAssetRecord } from "./recording-asset.ts";
import { mintUploadToken, UPLOAD_TOKEN_MS } from "./upload-token.ts";

export interface AssetServiceDeps extends EventDeps, Pick<DomainConfig, "uploadsPerProject"> {
  readonly mediaControl: Pick<MediaControl, "accessChanged">;
  readonly findAccessWebhook: FindAccessWebhook;
  readonly outbound: Pick<Outbound, "refusalOf">;
  /** Whether to keep the original of an upload that does not specify it. */
  keepOriginals(): boolean;
  uploadSecret(): Promise<Uint8Array>;
  readonly queueTask: QueueTask;
}

/** A second request for the same URL within this time returns the first asset. */
const SAME_IMPORT_MS = 15 * 60_000;
/** When the project has reached its limit, requested uploads that have not begun for this long are dropped. */
const UNBEGUN_MS = 3_600_000;
const UNBEGUN = "The upload did not begin within an hour, and others needed its place: request another one.";
/** How long a deleted asset can be restored. */
const RESTORABLE_MS = 7 * 86_400_000;

/** The asset is in a phase that does not allow the operation. */
const assetConflict = (message: string) => new ApiError(422, "asset-conflict", message);

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

  /** At the limit, drops uploads that were requested long ago and never begun. Throws `too-many-uploads` if there are none. */
  async #makeRoomForUpload(owner: Owner): Promise<void> {
    const { db, clock, uploadsPerProject } = this.#deps;
    if (uploadsPerProject === 0 || !(await hasUploads(db, owner, uploadsPerProject))) return;
    const requestedBefore = clock.now() - UNBEGUN_MS;
    for (const id of await findUnbegun(db, owner, { requestedBefore, tokenMs: UPLOAD_TOKEN_MS }))
      await failUpload(this.#deps, id, requestedBefore + UPLOAD_TOKEN_MS, UNBEGUN);
    if (!(await hasUploads(db, owner, uploadsPerProject))) return;
    const why = `the project has ${uploadsPerProject} unfinished uploads: finish or delete some`;
    throw new ApiError(429, "too-many-uploads", why);
  }

  /** `isNew` is false if the same URL is being fetched already. */
  async import(
    principal: Principal,
    { url, ...input }: NewAssetFromUrl,
    publicUrl: string,
  ): Promise<RequestedImport & { readonly isNew: boolean }> {
    const { db, clock, outbound, queueTask } = this.#deps;
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
    await queueAsset(queueTask, row);
    return shown(row, true);
  }

  /** Create an asset whose file is uploaded, beginning before `expiresAt`, or fetched. */
  async create(
    principal: Principal,
    input: NewAsset,
    { source, expiresAt }: { readonly source: AssetSource; readonly expiresAt: number | null },
  ): Promise<AssetRow> {
    const { db, findAccessWebhook, keepOriginals } = this.#deps;
    const { profiles, targetSegmentSizeSecs } = input;
    checkLadder(profiles);
    await checkPolicy(findAccessWebhook, principal.projectId, input.playbackPolicy);
    return db.transaction().execute((trx) =>
      createAsset(this.#deps, trx, principal, {
        name: input.name,
        creatorId: creatorOf(input.creatorId) ?? null,
        policy: input.playbackPolicy,
        source,
        expiresAt,
        columns: {
          profiles: json(profiles),
          static_mp4: input.staticMp4 ?? null,
          target_segment_seconds: targetSegmentSizeSecs ?? null,
          keep_original: input.keepOriginal ?? keepOriginals(),
          retention_days: input.retentionDays ?? null,
        },
        task: {
          type: "upload",
          params: {
            upload: {
              ...(source.type === "url" && { url: source.url }),
              ...(profiles && { profiles }),
              ...(targetSegmentSizeSecs && { targetSegmentSizeSecs }),
            },
          },
        },
      }),
    );
  }

  async get(owner: Owner, id: string, view: AssetView): Promise<Asset> {
    return found(await findAssetRecord(this.#deps.db, owner, id, view), "Asset not found");
  }

  async patch(owner: Owner, id: string, patch: AssetPatch, view: AssetView): Promise<Asset> {
    refuseAbsentFeatures(patch);
    await checkPolicy(this.#deps.findAccessWebhook, owner.projectId, patch.playbackPolicy);
    const row = await this.#change(owner, id, async (trx, before, at) => {
      const { name, creatorId, playbackPolicy, retentionDays } = patch;
      if (playbackPolicy !== undefined) {
        if (before.phase !== "ready") throw assetConflict("asset is not ready");
        if (isGated(before.playback_policy) !== isGated(playbackPolicy))
          throw assetConflict("cannot update playback policy from private to public or vice versa");
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
        ...(before.phase === "ready" || before.phase === "failed" ? [] : [eventOfTask(before, "task.updated", at)]),
      ];
    });
    await this.#refresh(row);
  }

  /** A restored asset continues in the phase that it had. */
  async restore(owner: Owner, id: string): Promise<void> {
    const any = found(await findAnyAsset(this.#deps.db, owner, id), "Asset not found");
    const row = await this.#changeAny(any.id, async (trx, before, at) => {
      if (before.deleted_at === null) throw new BadRequest("asset is not deleted");
      // Its bytes are being removed.
      if (Number(before.purge_at) <= at) throw new NotFound("Asset not found");
      await writeAsset(trx, before, { at, set: { deleted_at: null, purge_at: null } });
      return [assetEvent(before, "asset.updated", at), eventOfTask(before, "task.updated", at)];
    });
    await this.#refresh(row);
    await queueAsset(this.#deps.queueTask, row);
  }

  /** Process a failed asset again, from its stored file. */
  async retry(owner: Owner, id: string): Promise<string> {
    const row = await this.#change(owner, id, async (trx, before, at) => {
      if (before.phase !== "failed") throw assetConflict("only failed assets can be retried");
      if (before.source_key === null && before.source.type === "directUpload")
        throw assetConflict("the file of this asset never arrived: create another asset and upload it there");
      return moveAsset(trx, before, "retry", {
        at,
        set: { attempt: before.attempt + 1, broken_runs: 0, playable_at: null },
      });
    });
    await this.#refresh(row);
    await queueAsset(this.#deps.queueTask, { ...row, phase: "waiting" });
    return row.task_id;
  }

  /** The owner retries the task that makes an asset. */
  async retryTask(owner: Owner, { phase, output_asset_id: id }: TaskRow): Promise<void> {
    if (phase === "cancelled") await this.restore(owner, id ?? "");
    else if (phase === "failed") await this.retry(owner, id ?? "");
    else throw assetConflict("only failed or cancelled tasks can be retried");
  }

  async #change(
    owner: Owner,
    id: string,
    change: (trx: Trx, row: AssetRow, at: number) => Promise<NewEvent[]>,
  ): Promise<AssetRow> {
    const asset = found(await findAsset(this.#deps.db, owner, id), "Asset not found");
    return this.#changeAny(asset.id, async (trx, row, at) => {
      if (row.deleted_at !== null) throw new NotFound("Asset not found");
      return change(trx, row, at);
    });
  }

  /** Returns the row before the change. */
  async #changeAny(
    id: string,
    change: (trx: Trx, row: AssetRow, at: number) => Promise<NewEvent[]>,
  ): Promise<AssetRow> {
    const { db, clock, events } = this.#deps;
    return db.transaction().execute(async (trx) => {
      const row = found(await lockAsset(trx, id), "Asset not found");
      await events.append(trx, await change(trx, row, clock.now()));
      return row;
    });
  }

  async #refresh({ id, playback_id: playbackId }: AssetRow): Promise<void> {
    try {
      await this.#deps.mediaControl.accessChanged(playbackId);
    } catch (error) {
      // The rows have changed already: current viewers are checked again within seconds.
      this.#deps.log.error({ err: error, assetId: id }, "could not notify media nodes of a changed asset");
    }
  }
}

/** Clients of the public API send these fields with values that request nothing. */
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

/** Rules of a ladder that its schema cannot express. */
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
