import { rm } from "node:fs/promises";
import { systemClock } from "../clock.ts";
import { silentLog } from "../log.ts";
import { makeTestFolder } from "../test-folder-rig.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";

/** For tests: an embedded PostgreSQL on a temporary folder. */
export async function startTemporaryPostgres(): Promise<EmbeddedPostgres & { readonly dataFolder: string }> {
  const dataFolder = makeTestFolder("test");
  const postgres = await startEmbeddedPostgres({ dataFolder, clock: systemClock, log: silentLog });
  return {
    ...postgres,
    dataFolder,
    async close() {
      await postgres.close();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}
