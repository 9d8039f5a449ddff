import { chmodSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StartupError } from "./startup-error.ts";

const BUSY = 5;
/** A lock ends with its database object. Kept here, it does not depend on what its holder keeps. */
const HELD = new Set<DatabaseSync>();

/**
 * One holder per file, with the lock that SQLite takes on an empty database. The kernel grants it to one process at once, and releases it when
 * that process ends in any way. It works in a folder of any name, and across containers that share the folder.
 */
export interface FolderLock {
  release(): Promise<void>;
}

/** The lock at `path`, or null if a living process holds it. Throws `StartupError` if the file system has no locks. */
export async function takeLock(path: string): Promise<FolderLock | null> {
  let file: DatabaseSync | null = null;
  try {
    file = new DatabaseSync(path, { timeout: 0 });
    // The writer's lock, which only one process can hold. With "exclusive", two can block one another.
    file.exec("begin immediate");
    chmodSync(path, 0o600);
    const held = file;
    HELD.add(held);
    return {
      async release() {
        if (HELD.delete(held)) held.close();
      },
    };
  } catch (error) {
    file?.close();
    if ((error as { errcode?: number }).errcode === BUSY) return null;
    throw new StartupError(
      `cannot lock ${path} (${(error as Error).message}): set WEIR_DATA_DIR to a folder of this user on a file system with locks`,
    );
  }
}
