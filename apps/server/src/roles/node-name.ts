import { createHash, randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** This node's name: made once and kept in its data folder, so that after a restart, or a power cut, it finds what it held before. */
export function nodeNameOf(dataFolder: string): string {
  const file = join(dataFolder, "node-name");
  const kept = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  if (kept) return kept;
  const name = randomUUID();
  writeFileSync(`${file}.new`, `${name}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  syncFolder(dataFolder);
  return name;
}

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/**
 * The data folder, as no other folder of any machine is named: by this start of the kernel, and by the folder on it. Its lock lets one process at a
 * time run there, so that an earlier one of the same place no longer runs. Null where the system does not name its start.
 */
export function nodePlaceOf(dataFolder: string): string | null {
  if (!existsSync(BOOT_ID)) return null;
  const { dev, ino } = statSync(dataFolder);
  return createHash("sha256")
    .update([readFileSync(BOOT_ID, "utf8").trim(), dev, ino].join(" "))
    .digest("hex");
}

/** The name of one of several media processes of a server: that of the server for the first one. */
export const processNameOf = (serverFolder: string, number: number): string =>
  number === 1 ? nodeNameOf(serverFolder) : `${nodeNameOf(serverFolder)}/${number}`;

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
