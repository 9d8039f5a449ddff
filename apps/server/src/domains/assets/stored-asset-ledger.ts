import {
  type AssetLedger,
  AssetNotWanted,
  type AssetWork,
  assetPrefix,
  type MediaIndex,
  type VideoSpec,
} from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog, NewEvent } from "../events/index.ts";
import type { AssetRow, Trx } from "../schema.ts";
import { assetSubject } from "../subject.ts";
import { addTranscodedTime } from "../usage/index.ts";
import { assetEvent, lockAsset, moveAsset, taskEvent, writeAsset } from "./asset-change.ts";
import { writeAssetMedia } from "./asset-media.ts";
import { isSettled } from "./asset-status.ts";

export interface AssetLedgerDeps extends Deps {
  readonly events: EventLog;
  /** Kept answers about this playback id are asked for anew. */
  readonly accessChanged: (playbackId: string) => Promise<void>;
}

/** Steps of progress that are told as events. */
const TOLD_STEPS = 10;
const MAX_SENTENCE = 1_000;

/** The rows of assets, as the media floor moves them on. A row is locked for each change, so that calls from two runs do not mix. */
export class StoredAssetLedger implements AssetLedger {
  readonly #deps: AssetLedgerDeps;

  constructor(deps: AssetLedgerDeps) {
    this.#deps = deps;
  }

  async beginProcessing(assetId: string): Promise<AssetWork | null> {
    const { db, clock, events } = this.#deps;
    return db.transaction().execute(async (trx) => {
      const row = await lockAsset(trx, assetId);
      if (!row || row.deleted_at !== null || isSettled(row.phase) || row.source_key === null) return null;
      const told = await moveAsset(trx, row, "begin", { at: clock.now() });
      await events.append(trx, told);
      return workOf(row, row.source_key);
    });
  }

  async progressed(assetId: string, fraction: number): Promise<void> {
    const progress = Math.max(0, Math.min(1, fraction));
    await this.#change(assetId, async (trx, row) => {
      if (progress <= row.progress) return [];
      const at = this.#deps.clock.now();
      await writeAsset(trx, row, { at, set: { progress } });
      const isToldStep = Math.floor(progress * TOLD_STEPS) > Math.floor(row.progress * TOLD_STEPS);
      return isToldStep ? [assetEvent(row, "asset.updated", at), taskEvent(row, "task.updated", at)] : [];
    });
  }

  async probed(assetId: string, videoSpec: VideoSpec): Promise<void> {
    await this.#change(assetId, async (trx, row) => {
      await writeAsset(trx, row, { at: this.#deps.clock.now(), set: { video_spec: JSON.stringify(videoSpec) } });
      return [];
    });
  }

  async playable(assetId: string, media: MediaIndex): Promise<void> {
    const at = this.#deps.clock.now();
    const playbackId = await this.#change(assetId, async (trx, row) => {
      await writeAssetMedia(trx, assetId, media);
      if (row.playable_at !== null) return [];
      await writeAsset(trx, row, { at, set: { playable_at: at } });
      return [assetEvent(row, "asset.updated", at)];
    });
    await this.#deps.accessChanged(playbackId);
  }

  async finished(assetId: string, media: MediaIndex): Promise<void> {
    const at = this.#deps.clock.now();
    const playbackId = await this.#change(assetId, async (trx, row) => {
      await writeAssetMedia(trx, assetId, media);
      const owner = { projectId: row.project_id, userId: row.user_id };
      await addTranscodedTime(trx, [
        { subject: assetSubject(assetId), owner, at, seconds: row.video_spec?.duration ?? 0 },
      ]);
      const size = row.size === null ? { size: bytesOf(media) } : {};
      const set = { progress: 1, playable_at: Number(row.playable_at ?? at), ...size };
      return moveAsset(trx, row, "finish", { at, set });
    });
    await this.#deps.accessChanged(playbackId);
    this.#deps.log.info({ assetId }, "asset ready");
  }

  async failed(assetId: string, sentence: string): Promise<void> {
    const error = sentence.slice(0, MAX_SENTENCE);
    // Its files are gone, also those that could be watched while the others were made.
    const playbackId = await this.#change(assetId, (trx, row) =>
      moveAsset(trx, row, "fail", {
        at: this.#deps.clock.now(),
        set: { progress: row.progress, error, playable_at: null },
      }),
    );
    await this.#deps.accessChanged(playbackId);
    this.#deps.log.info({ assetId, reason: error }, "asset failed");
  }

  /** Change an asset that is being processed; its playback id. Throws `AssetNotWanted` for any other. */
  async #change(assetId: string, change: (trx: Trx, row: AssetRow) => Promise<NewEvent[]>): Promise<string> {
    const { db, events } = this.#deps;
    return db.transaction().execute(async (trx) => {
      const row = await lockAsset(trx, assetId);
      if (!row || row.deleted_at !== null || row.phase !== "processing")
        throw new AssetNotWanted(`nobody wants the asset ${assetId} to be processed any more`);
      await events.append(trx, await change(trx, row));
      return row.playback_id;
    });
  }
}

/** Of a clip, which has no file that came. */
const bytesOf = ({ renditions }: MediaIndex): number =>
  renditions.flatMap(({ spanBytes }) => [...spanBytes.values()]).reduce((sum, bytes) => sum + bytes, 0);

function workOf(row: AssetRow, sourceKey: string): AssetWork {
  return {
    assetId: row.id,
    projectId: row.project_id,
    sourceKey,
    sourceBytes: Number(row.size ?? 0),
    attempt: row.attempt,
    outPrefix: `${assetPrefix(row.project_id, row.id)}out/${row.attempt}/`,
    profiles: row.profiles,
    staticMp4: row.static_mp4 ?? false,
    targetSegmentSeconds: row.target_segment_seconds,
    progress: row.phase === "processing" ? row.progress : 0,
  };
}
