import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { ByteRange } from "./object-store.ts";

/** A segment of two seconds at 3 Mbit/s: each read is a turn of the thread pool. */
const PIECE_BYTES = 768 * 1024;
/** Kept for the next who read. */
const MAX_FREE_BUFFERS = 32;
const free: Uint8Array[] = [];

/**
 * A range of a file, in pieces that are valid until the next one is asked for: their buffer is used again. V8 collects everything for every 64 MiB of new
 * buffers, and a stream of Node has a new one for each piece. Links are not followed.
 */
export async function* filePieces(path: string, { start, end }: ByteRange): AsyncGenerator<Uint8Array, void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
  try {
    for (let at = start; at <= end; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE_BYTES, end + 1 - at), at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    if (free.length < MAX_FREE_BUFFERS) free.push(buffer);
    await file.close();
  }
}
