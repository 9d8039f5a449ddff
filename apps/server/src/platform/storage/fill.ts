import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** `ELOOP`: a link. */
const ABSENT = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ELOOP"]);

export const isAbsent = (error: unknown): boolean => ABSENT.has((error as NodeJS.ErrnoException).code ?? "");

/**
 * Fill `views` with the bytes of a file from `start` on. Returns how many were read: fewer than asked for at the end of the file, null if there is no such
 * file. Links are not followed. For bytes that go into memory that is used again: V8 collects everything for every 64 MiB of new buffers, and a stream of
 * Node has a new one for each piece.
 */
export async function fillFromFile(path: string, views: readonly Uint8Array[], start: number): Promise<number | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      let done = 0;
      for (let rest = views; rest.length > 0; rest = viewsFrom(views, done)) {
        const { bytesRead } = await file.readv(rest, start + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return done;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Fill `views` with what comes in pieces, and drop what is more. Returns how many bytes came. */
export async function fillFrom(pieces: AsyncIterable<Uint8Array>, views: readonly Uint8Array[]): Promise<number> {
  let done = 0;
  for await (const piece of pieces) {
    let rest = piece;
    for (const view of viewsFrom(views, done)) {
      if (rest.byteLength === 0) break;
      const part = rest.subarray(0, view.byteLength);
      view.set(part);
      rest = rest.subarray(part.byteLength);
    }
    done += piece.byteLength;
  }
  return done;
}

/** What of `views` comes after their first `bytes` bytes. */
function viewsFrom(views: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let skipped = 0;
  for (const [nth, view] of views.entries()) {
    const from = bytes - skipped;
    if (from < view.byteLength) return [view.subarray(from), ...views.slice(nth + 1)];
    skipped += view.byteLength;
  }
  return [];
}
