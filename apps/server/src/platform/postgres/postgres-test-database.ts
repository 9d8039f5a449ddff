import { randomUUID } from "node:crypto";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import pg from "pg";
import { inject } from "vitest";
import type { PostgresAddress } from "./embedded-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of a socket that returns the address of the server shared by all unit tests. */
    readonly postgresSocket: string;
  }
}

/** The database of that server with Weir's schema and no rows. */
export const TEMPLATE = "weir_template";

export interface TestDatabase {
  readonly address: PostgresAddress;
  /** Ends every connection and accepts no more, as if its server had stopped. */
  cutOff(): Promise<void>;
  drop(): Promise<void>;
}

/** A new database on the server shared by all unit tests: with Weir's schema, or empty. */
export async function createTestDatabase(template: typeof TEMPLATE | "template0" = TEMPLATE): Promise<TestDatabase> {
  const server = JSON.parse(await text(connect(inject("postgresSocket")))) as PostgresAddress;
  const database = `test_${randomUUID().replaceAll("-", "")}`;
  await run(server, `create database ${database} template ${template}`);
  // Its own path to the server's socket, which can be removed without affecting other tests.
  const host = await mkdtemp(join(tmpdir(), "weir-database-"));
  const socket = `.s.PGSQL.${server.port}`;
  await symlink(join(server.host, socket), join(host, socket));
  return {
    address: { ...server, host, database },
    async cutOff() {
      await rm(join(host, socket));
      await run(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
    },
    async drop() {
      await run(server, `drop database ${database} with (force)`);
      await rm(host, { recursive: true });
    },
  };
}

async function run(address: PostgresAddress, statement: string): Promise<void> {
  const client = new pg.Client(address);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
