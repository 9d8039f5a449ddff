import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import type { TestProject } from "vitest/node";
import { systemClock } from "../apps/server/src/platform/clock.ts";
import { openDatabase } from "../apps/server/src/platform/database.ts";
import { silentLog } from "../apps/server/src/platform/log.ts";
import { migrate } from "../apps/server/src/platform/migrate.ts";
import type { PostgresAddress } from "../apps/server/src/platform/postgres/embedded-postgres.ts";
import { TEMPLATE } from "../apps/server/src/platform/postgres/postgres-test-database.ts";
import { startTemporaryPostgres } from "../apps/server/src/platform/postgres/temporary-postgres-rig.ts";

const MIGRATIONS = fileURLToPath(new URL("../apps/server/migrations/", import.meta.url));

/** One PostgreSQL server for all unit tests of a run. It starts on the first request for its address, since most test files need none. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "weir-unit-"));
  let starting: Promise<{ readonly address: PostgresAddress; close(): Promise<void> }> | undefined;
  const answers = createServer((socket) => {
    socket.on("error", () => {});
    starting ??= startWithTemplate();
    starting.then(
      ({ address }) => socket.end(JSON.stringify(address)),
      (error: Error) => {
        console.error(`the unit test database did not start: ${error.message}`);
        socket.destroy();
      },
    );
  });
  const path = join(folder, "postgres");
  await new Promise<void>((resolve) => answers.listen(path, resolve));
  project.provide("postgresSocket", path);
  return async () => {
    // The server stops with timers that do not keep the process alive. Without this interval the run would end before the folders are removed.
    const stopping = setInterval(() => {}, 1_000);
    answers.close();
    await starting?.then(
      (server) => server.close(),
      () => {},
    );
    rmSync(folder, { recursive: true });
    clearInterval(stopping);
  };
}

async function startWithTemplate() {
  const server = await startTemporaryPostgres();
  try {
    await makeTemplate(server.address);
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}

async function makeTemplate(address: PostgresAddress): Promise<void> {
  const outer = await openDatabase(address, silentLog, systemClock);
  // The data does not outlive the run, so it need not be durable.
  await sql`alter system set fsync = off`.execute(outer.db);
  await sql`alter system set synchronous_commit = off`.execute(outer.db);
  await sql`select pg_reload_conf()`.execute(outer.db);
  await sql`create database ${sql.id(TEMPLATE)}`.execute(outer.db);
  await outer.close();
  const template = await openDatabase({ ...address, database: TEMPLATE }, silentLog, systemClock);
  await migrate(template.db, MIGRATIONS, silentLog);
  await template.close();
}
