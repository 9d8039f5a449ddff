import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../platform/clock.ts";
import { openDatabase } from "../platform/database.ts";
import { silentLog } from "../platform/log.ts";
import { migrate } from "../platform/migrate.ts";
import { createTestDatabase } from "../platform/postgres/postgres-test-database.ts";
import type { Db, Schema } from "./schema.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations/", import.meta.url));

export interface OlderDatabase extends AsyncDisposable {
  /** Its types are those of now. */
  readonly db: Db;
  /** Bring it to the schema of now. */
  migrate(): Promise<void>;
}

/** A database as an older Weir left it: with the migrations up to this number, and no row. */
export async function openOlderDatabase(lastMigration: number): Promise<OlderDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "weir-migrations-"));
  const isOlder = (path: string) => !path.endsWith(".sql") || Number.parseInt(basename(path), 10) <= lastMigration;
  await cp(MIGRATIONS, folder, { recursive: true, filter: isOlder });
  const rows = await createTestDatabase("template0");
  const database = await openDatabase<Schema>(rows.address, silentLog, systemClock);
  await migrate(database.db, folder, silentLog);
  await rm(folder, { recursive: true });
  return {
    db: database.db,
    migrate: async () => void (await migrate(database.db, MIGRATIONS, silentLog)),
    async [Symbol.asyncDispose]() {
      await database.close();
      await rows.drop();
    },
  };
}
