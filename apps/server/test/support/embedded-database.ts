import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { WeirProcess } from "./weir-process.ts";

/** Process id of the server's own PostgreSQL. */
export function postmasterPid({ dataFolder }: WeirProcess): number {
  const [cluster = expect.fail("there is no database in the data folder")] = readdirSync(join(dataFolder, "pg"));
  return Number(readFileSync(join(dataFolder, "pg", cluster, "postmaster.pid"), "utf8").split("\n", 1)[0]);
}

/** The backend processes of its PostgreSQL, one per connection. Linux only. */
export function backendPids(weir: WeirProcess): number[] {
  const postmaster = postmasterPid(weir);
  return readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8")
    .trim()
    .split(" ")
    .map(Number)
    .filter((pid) => commandOf(pid).includes("postgres: weir"));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
