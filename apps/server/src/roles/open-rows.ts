import { fileURLToPath } from "node:url";
import type { Schema } from "../domains/index.ts";
import { type Database, openDatabase } from "../platform/database.ts";
import { migrate } from "../platform/migrate.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded-postgres.ts";
import type { Opening } from "./opening.ts";
import { measureDatabase } from "./weir-metrics.ts";

/** Viewers go on without the database. */
const NEED_ROWS = ["publish", "api"] as const;
const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));

/** The migrated database: the one that is set, or the embedded one. */
export async function openRows(opening: Opening): Promise<Database<Schema>> {
  const { config, clock, log, signal, opened, readiness, metrics, dataFolder } = opening;
  const postgres = config.databaseUrl ? null : await startEmbeddedPostgres({ dataFolder, clock, log });
  if (postgres) {
    opened.defer(() => postgres.close());
    readiness.add("postgres", () => (postgres.isRunning() ? null : "restarting"), NEED_ROWS);
  }
  const connection = config.databaseUrl ?? postgres?.address;
  if (!connection) throw new Error("no database: neither an address nor an embedded one");
  const database = await openDatabase<Schema>(connection, log, clock, signal ? { signal } : {});
  opened.defer(() => database.close());
  readiness.add("database", () => database.ping().then(() => null), NEED_ROWS);
  measureDatabase(metrics, database);
  await migrate(database.unhurried, MIGRATIONS, log);
  return database;
}
