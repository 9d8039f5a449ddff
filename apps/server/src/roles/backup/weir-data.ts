import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import pg from "pg";
import type { Clock } from "../../platform/clock.ts";
import { CONNECTION } from "../../platform/database-pool.ts";
import { takeLock } from "../../platform/folder-lock.ts";
import type { Log } from "../../platform/log.ts";
import { embeddedAddress, startEmbeddedPostgres } from "../../platform/postgres/embedded-postgres.ts";
import { StartupError } from "../../platform/startup-error.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { connectObjectStore } from "../../platform/storage/open-object-store.ts";
import type { Config } from "../config.ts";

/** The data of a server: its rows, its objects, and its folder. */
export interface WeirData extends AsyncDisposable {
  readonly dataFolder: string;
  readonly client: pg.Client;
  readonly store: ObjectStore;
  /** Whether objects are in a bucket, and not in the folder. */
  readonly isBucket: boolean;
}

export interface WeirDataSettings {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
}

/** The data beside a running server, or of one that does not run and cannot start meanwhile. `check` may throw before anything is started. */
export async function openWeirData(
  { config, clock, log }: WeirDataSettings,
  check: (isServerRunning: boolean) => void = () => {},
): Promise<WeirData> {
  await using opened = new AsyncDisposableStack();
  const dataFolder = resolve(config.dataDir);
  if (!existsSync(dataFolder))
    throw new StartupError(`there is no data folder ${dataFolder}: set WEIR_DATA_DIR to that of the server`);
  const lock = await takeLock(join(dataFolder, "weir.lock"));
  if (lock) opened.defer(() => lock.release());
  check(lock === null);
  const connection = await connectionTo({ config, clock, log }, dataFolder, lock === null, opened);
  const client = await connectClient(connection, opened);
  const { store, isBucket } = await connectObjectStore({ dataFolder, config, clock });
  const all = opened.move();
  return { dataFolder, client, store, isBucket, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Where the database is. The embedded one is started if no server runs. */
export async function connectionTo(
  { config, clock, log }: WeirDataSettings,
  dataFolder: string,
  isServerRunning: boolean,
  opened: AsyncDisposableStack,
): Promise<pg.ClientConfig> {
  const url = config.databaseDirectUrl ?? config.databaseUrl;
  if (url !== null) return { connectionString: url.reveal() };
  if (isServerRunning) return { ...embeddedAddress(dataFolder) };
  const postgres = await startEmbeddedPostgres({ dataFolder, clock, log });
  opened.defer(() => postgres.close());
  return { ...postgres.address };
}

/** One connection, without the limits that requests have. */
export async function connectClient(connection: pg.ClientConfig, opened: AsyncDisposableStack): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, ...CONNECTION, application_name: "weir backup" });
  // A connection that is lost fails the statement that runs.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new StartupError(`cannot reach the database (${(error as Error).message}): see weir doctor`);
  }
  opened.defer(() => client.end());
  await client.query("set statement_timeout = 0; set idle_in_transaction_session_timeout = 0");
  return client;
}

/** The schema, as the names and hashes of its migrations. */
export async function migrationsOf(client: pg.Client): Promise<{ readonly name: string; readonly digest: string }[]> {
  try {
    const { rows } = await client.query("select name, digest from migration order by number");
    return rows;
  } catch (error) {
    if ((error as { code?: string }).code !== "42P01") throw error;
    throw new StartupError("the database holds no Weir yet: start the server once");
  }
}
