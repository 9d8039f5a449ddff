import { assetPrefix, type MadeMedia, type MediaIndex } from "../../ports/index.ts";
import type { NewEvent } from "../events/index.ts";
import type { AssetRow, Trx } from "../schema.ts";
import { assetSubject } from "../subject.ts";
import type { LockedTask, QueueTask, TaskJobName, TaskKind, TaskStep } from "../tasks/index.ts";
import { addTranscodedTime } from "../usage/index.ts";
import { type AssetColumns, assetEvent, eventOfTask, lockAsset, moveAsset, writeAsset } from "./asset-change.ts";
import { writeAssetMedia } from "./asset-media.ts";

/** An asset that a worker has something to do for, locked until the transaction ends. */
export interface LockedAsset extends LockedTask<AssetRow> {
  write(set: AssetColumns): Promise<void>;
  move(step: TaskStep, set?: AssetColumns): Promise<NewEvent[]>;
}

export type AssetTask<Result> = TaskKind<AssetRow, LockedAsset, Result>;

/** What a worker has next to do for an asset; null for nothing. */
export function jobOf({
  phase,
  source_key: sourceKey,
  source,
}: Pick<AssetRow, "phase" | "source_key" | "source">): TaskJobName | null {
  if (phase !== "waiting" && phase !== "processing") return null;
  if (source.type === "clip") return "make-clip";
  if (sourceKey !== null) return "process-asset";
  return source.type === "url" ? "import-asset" : null;
}

export type QueuedAsset = Parameters<typeof jobOf>[0] & Pick<AssetRow, "id" | "project_id">;

/** Queue what a worker has next to do for an asset, if anything. */
export async function queueAsset(queueTask: QueueTask, asset: QueuedAsset): Promise<void> {
  const job = jobOf(asset);
  if (job) await queueTask(job, asset);
}

export async function lockAssetFor(name: TaskJobName, trx: Trx, id: string, at: number): Promise<LockedAsset | null> {
  const row = await lockAsset(trx, id);
  if (!row || row.deleted_at !== null || jobOf(row) !== name) return null;
  return {
    row,
    write: (set) => writeAsset(trx, row, { at, set }),
    move: (step, set) => moveAsset(trx, row, step, { at, ...(set && { set }) }),
    updated: () => [
      assetEvent(row, "asset.updated", at),
      // Until it runs, a task shows nothing of this.
      ...(row.phase === "processing" ? [eventOfTask(row, "task.updated", at)] : []),
    ],
  };
}

export interface AssetTaskDeps {
  /** Cached answers about this playback id are dropped. */
  readonly accessChanged: (playbackId: string) => Promise<void>;
}

/** What all tasks have in common that end with media to play. */
export function mediaTask(
  name: TaskJobName,
  { accessChanged }: AssetTaskDeps,
): Omit<AssetTask<MadeMedia>, "run"> & { ended(row: AssetRow): Promise<void> } {
  return {
    name,
    lock: (trx, id, at) => lockAssetFor(name, trx, id, at),
    begin: (asset) => asset.move("begin"),
    async finish(asset, { spec, media }, trx, at) {
      const { row } = asset;
      await writeAssetMedia(trx, row.id, media);
      const owner = { projectId: row.project_id, userId: row.user_id };
      await addTranscodedTime(trx, [{ subject: assetSubject(row.id), owner, at, seconds: spec.duration }]);
      return asset.move("finish", {
        progress: 1,
        playable_at: Number(row.playable_at ?? at),
        video_spec: JSON.stringify(spec),
        ...(row.size === null && { size: bytesOf(media) }),
      });
    },
    ended: (row) => accessChanged(row.playback_id),
  };
}

/** Folder of what is made in this attempt. Each attempt has its own, so that no address ever names two things. */
export const outPrefixOf = ({ project_id: projectId, id, attempt }: AssetRow): string =>
  `${assetPrefix(projectId, id)}out/${attempt}/`;

/** Of a clip, which has no file that came. */
const bytesOf = ({ renditions }: MediaIndex): number =>
  renditions.flatMap(({ spanBytes }) => [...spanBytes.values()]).reduce((sum, bytes) => sum + bytes, 0);
