import { mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** The databases and recordings of the tests that run at a time. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/**
 * For tests: a new folder, in memory where the machine has room for it. A database is hundreds of small files: to make one takes a disk a
 * third of a second, and memory a twentieth.
 */
export function makeTestFolder(purpose: string): string {
  return mkdtempSync(join(hasRoomInMemory() ? MEMORY : tmpdir(), `weir-${purpose}-`));
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
}
