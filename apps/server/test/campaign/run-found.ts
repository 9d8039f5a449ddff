import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FOUND, SEED } from "./run-options.ts";
import type { World } from "./world.ts";

/** What the run did and found, for a table of results. */
export const found = {
  seed: SEED,
  faults: [] as string[],
  figures: {} as Record<string, number>,
  broken: "",
};

export function say(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}

/** Carries out the run and keeps what it found, also where a promise is broken: then the server's last lines are printed, and all of them are kept in a file. */
export async function keepFound(world: World, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    found.broken = error instanceof Error ? error.message : String(error);
    const file = join(tmpdir(), `weir-campaign-${SEED}-${process.pid}.log`);
    writeFileSync(file, world.weir.log);
    process.stderr.write(`the server's last lines, of those in ${file}:\n${world.lastWords}\n`);
    throw error;
  } finally {
    if (FOUND) writeFileSync(FOUND, JSON.stringify(found));
  }
}
