import { createHash, randomBytes } from "node:crypto";
import { createReadStream, openAsBlob, readFileSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { WeirProcess } from "./weir-process.ts";

const BLOCK_BYTES = 1024 * 1024;

export interface KilledUpload {
  /** Additional memory of the server while it received the file, in bytes. */
  readonly mostMemory: number;
}

/** Uploads a file of random bytes with the client, kills the server at each of these fractions, and compares the stored hash with the file's. */
export async function uploadThroughKills(
  weir: WeirProcess,
  blocks: number,
  kills: readonly number[],
): Promise<KilledUpload> {
  const folder = await mkdtemp(join(tmpdir(), "weir-upload-"));
  try {
    const path = join(folder, "random");
    const hash = await writeRandom(path, blocks);
    return await uploadFile(weir, await openAsBlob(path), hash, kills);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes blocks that all differ, so that a lost, repeated or moved block is detected. Returns the SHA-256. */
async function writeRandom(path: string, blocks: number): Promise<string> {
  const hash = createHash("sha256");
  await using file = await open(path, "w");
  for (let written = 0; written < blocks; written++) {
    const block = randomBytes(BLOCK_BYTES);
    hash.update(block);
    await file.write(block);
  }
  return hash.digest("hex");
}

async function uploadFile(
  weir: WeirProcess,
  file: Blob,
  hash: string,
  kills: readonly number[],
): Promise<KilledUpload> {
  const left = [...kills];
  let killing: Promise<void> | null = null;
  let mostMemory = 0;
  let before = residentBytes(weir);
  const creation = weir.client.createAsset(
    { sources: [{ name: "random bytes", file }] },
    {
      memory: null,
      onProgress: ([source]) => {
        if (source?.phase !== "uploading" || killing) return;
        mostMemory = Math.max(mostMemory, residentBytes(weir) - before);
        if (source.progress < (left[0] ?? Number.POSITIVE_INFINITY)) return;
        left.shift();
        killing = (async () => {
          await weir.kill();
          await weir.restart();
          before = residentBytes(weir);
          killing = null;
        })();
      },
    },
  );
  // Random bytes are not a video.
  const failure = await creation.assets.catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "asset-failed" });
  expect(left).toEqual([]);
  expect(await storedHash(weir)).toBe(hash);
  return { mostMemory };
}

/** Of the file of the newest asset, as it is in the object store: the server hashes no file that it cannot play. */
async function storedHash({ client, dataFolder }: WeirProcess): Promise<string> {
  const [asset] = (await client.assets.list({ limit: 1 })).items;
  const folder = join(dataFolder, "objects/v1", asset?.projectId ?? "", "asset", asset?.id ?? "");
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(join(folder, "source/original"))) hash.update(chunk);
  return hash.digest("hex");
}

function residentBytes({ pid }: WeirProcess): number {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
