import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
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

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
