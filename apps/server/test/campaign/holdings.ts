import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { familyOf } from "../support/process-family.ts";
import type { World } from "./world.ts";

/** What a server holds of the machine. */
export interface Holdings {
  readonly children: number;
  readonly files: number;
  readonly residentBytes: number;
  /** Folders of sessions in the spool. */
  readonly spooled: number;
}

/** Beyond what it held before: pools grow, code is compiled. */
const MORE = { children: 1, files: 40, residentBytes: 400 * 1024 * 1024, spooled: 0 };

export function holdingsOf({ weir }: World): Holdings {
  const [, ...children] = familyOf(weir.pid);
  const kibibytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${weir.pid}/status`, "utf8"))?.[1] ?? "0";
  return {
    children: children.length,
    files: readdirSync(`/proc/${weir.pid}/fd`).length,
    residentBytes: Number(kibibytes) * 1024,
    spooled: readdirSync(join(weir.dataFolder, "spool"), { withFileTypes: true }).filter((one) => one.isDirectory())
      .length,
  };
}

/** What it holds more than it may. */
export function grown(before: Holdings, now: Holdings): string[] {
  return (Object.keys(MORE) as (keyof Holdings)[])
    .filter((what) => now[what] > before[what] + MORE[what])
    .map((what) => `${what}: ${before[what]} before, ${now[what]} now`);
}
