import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** This node's name: made once and kept in its data folder, so that after a restart it finds what it held before. */
export function nodeNameOf(dataFolder: string): string {
  const file = join(dataFolder, "node-name");
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const name = randomUUID();
  writeFileSync(file, `${name}\n`, { mode: 0o600, flush: true });
  return name;
}
