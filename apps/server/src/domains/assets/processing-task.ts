import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import type { AssetProcessor, AssetWork, MadeMedia } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import type { AssetRow } from "../schema.ts";
import { assetEvent } from "./asset-change.ts";
import { writeAssetMedia } from "./asset-media.ts";
import { type AssetTask, type AssetTaskDeps, mediaTask, outPrefixOf } from "./asset-task.ts";

const HASHES = ["md5", "sha256"] as const;

export interface ProcessingTaskDeps extends Deps, AssetTaskDeps {
  readonly store: Pick<ObjectStore, "read">;
  readonly assetProcessor: AssetProcessor;
}

/** Processes the file of one asset; queued when its last byte is durable. */
export function processingTask(deps: ProcessingTaskDeps): AssetTask<MadeMedia> {
  const { assetProcessor, accessChanged } = deps;
  return {
    ...mediaTask("process-asset", deps),
    async run(row, { signal, progressed, change }) {
      const failed = new AbortController();
      const processing = assetProcessor.process(workOf(row), {
        signal,
        progressed,
        async scanned(spec, media) {
          await change(async (asset, trx, at) => {
            const isFirst = media !== null && asset.row.playable_at === null;
            if (media) await writeAssetMedia(trx, row.id, media);
            await asset.write({ video_spec: JSON.stringify(spec), ...(isFirst && { playable_at: at }) });
            return isFirst ? [assetEvent(row, "asset.updated", at)] : [];
          });
          if (media) await accessChanged(row.playback_id);
        },
      });
      processing.catch((error: unknown) => failed.abort(error));
      // A ready asset has its hashes, and nothing continues after the run.
      const hashing = recordHashes(deps, row.id, AbortSignal.any([signal, failed.signal]));
      const [made, hashed] = await Promise.allSettled([processing, hashing]);
      if (made.status === "rejected") throw made.reason;
      if (hashed.status === "rejected") throw hashed.reason;
      return made.value;
    },
  };
}

function workOf(row: AssetRow): AssetWork {
  return {
    assetId: row.id,
    projectId: row.project_id,
    sourceKey: row.source_key ?? "",
    sourceBytes: Number(row.size ?? 0),
    attempt: row.attempt,
    outPrefix: outPrefixOf(row),
    profiles: row.profiles,
    staticMp4: row.static_mp4 ?? false,
    targetSegmentSeconds: row.target_segment_seconds,
  };
}

/** Compute the hashes of an asset's file from what is stored, once, and keep them with the asset. */
async function recordHashes({ db, store }: ProcessingTaskDeps, assetId: string, signal: AbortSignal): Promise<void> {
  const row = await db.selectFrom("asset").select(["source_key", "hash"]).where("id", "=", assetId).executeTakeFirst();
  if (!row?.source_key || row.hash) return;
  const hashes = HASHES.map((algorithm) => ({ algorithm, hash: createHash(algorithm) }));
  let bytes = 0;
  for await (const chunk of await store.read(row.source_key)) {
    signal.throwIfAborted();
    const piece = Buffer.from(chunk);
    for (const { hash } of hashes) hash.update(piece);
    bytes += piece.byteLength;
    // Live streams share this event loop.
    await setImmediate();
  }
  const hash = JSON.stringify(hashes.map((one) => ({ hash: one.hash.digest("hex"), algorithm: one.algorithm })));
  await db.updateTable("asset").set({ hash, size: bytes }).where("id", "=", assetId).execute();
}
