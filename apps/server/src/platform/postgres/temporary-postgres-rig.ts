import { rm } from "node:fs/promises";
import { systemClock } from "../clock.ts";
import { silentLog } from "../log.ts";
import { makeTestFolder } from "../test-folder-rig.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";

export interface TemporaryPostgres extends EmbeddedPostgres {
  readonly dataFolder: string;
  /** Ends the server process; its data stays. */
  stop(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
}

/** For tests: an embedded PostgreSQL on a temporary folder. */
export async function startTemporaryPostgres(): Promise<TemporaryPostgres> {
  const dataFolder = makeTestFolder("test");
  const open = () => startEmbeddedPostgres({ dataFolder, clock: systemClock, log: silentLog });
  const first = await open();
  let server: EmbeddedPostgres | null = first;
  const stop = async () => {
    await server?.close();
    server = null;
  };
  return {
    address: first.address,
    dataFolder,
    isRunning: () => server?.isRunning() === true,
    stop,
    async start() {
      server ??= await open();
    },
    async close() {
      await stop();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}
