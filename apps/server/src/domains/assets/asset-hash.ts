import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import type { Deps } from "../deps.ts";

const ALGORITHMS = ["md5", "sha256"] as const;

export interface AssetHashDeps extends Deps {
  readonly store: Pick<ObjectStore, "read">;
}

/** Compute the hashes of an asset's file from what is stored, once, and keep them with the asset. */
export async function recordHashes({ db, store }: AssetHashDeps, assetId: string, signal: AbortSignal): Promise<void> {
  const row = await db.selectFrom("asset").select(["source_key", "hash"]).where("id", "=", assetId).executeTakeFirst();
  if (!row?.source_key || row.hash) return;
  const hashes = ALGORITHMS.map((algorithm) => ({ algorithm, hash: createHash(algorithm) }));
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
