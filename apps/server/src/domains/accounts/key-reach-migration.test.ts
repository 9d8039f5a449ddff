import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { openDatabase } from "../../platform/database.ts";
import { silentLog } from "../../platform/log.ts";
import { migrate } from "../../platform/migrate.ts";
import { startTemporaryPostgres } from "../../platform/postgres/temporary-postgres.ts";
import { newId } from "../ids.ts";
import type { Schema } from "../schema.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations/", import.meta.url));
const BEFORE = 9;

it("of the keys of an older Weir the first one alone rules the account, and keys with rules or origins are signed out", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-migrations-"));
  const numberOf = (file: string) => Number.parseInt(file, 10);
  cpSync(MIGRATIONS, folder, {
    recursive: true,
    filter: (path) => !path.endsWith(".sql") || numberOf(path.slice(path.lastIndexOf("/") + 1)) <= BEFORE,
  });
  const postgres = await startTemporaryPostgres();
  const database = await openDatabase<Schema>(postgres.address, silentLog, systemClock);
  const { db } = database;
  await migrate(db, folder, silentLog);
  const [userId, projectId] = [newId(), newId()];
  await sql`insert into account (id, name, created_at) values (${userId}, 'first', 1000)`.execute(db);
  await sql`insert into project (id, user_id, name, created_at) values (${projectId}, ${userId}, 'default', 1000)`.execute(
    db,
  );
  const keys = [
    ["the first", 1000, null],
    ["made later", 2000, null],
    ["with nothing in its access", 2000, {}],
    ["with rules", 2000, { rules: [] }],
    ["with origins", 2000, { cors: { allowedOrigins: ["*"], fullAccess: true } }],
    ["with no origin", 2000, { cors: { allowedOrigins: [] } }],
  ] as const;
  for (const [name, createdAt, access] of keys) {
    const id = newId();
    await sql`insert into api_key (id, project_id, user_id, name, prefix, hash, access, created_at)
      values (${id}, ${projectId}, ${userId}, ${name}, '', ${Buffer.from(name)}, ${access && JSON.stringify(access)}::jsonb, ${createdAt})`.execute(
      db,
    );
    await sql`insert into dashboard_session (hash, api_key_id, project_id, user_id, created_at, expires_at)
      values (${Buffer.from(name)}, ${id}, ${projectId}, ${userId}, 1, 2)`.execute(db);
  }

  await migrate(db, MIGRATIONS, silentLog);

  const { rows } = await sql<{ name: string; account_wide: boolean; signed_in: boolean }>`
    select name, account_wide, exists (select from dashboard_session d where d.api_key_id = k.id) as signed_in
    from api_key k`.execute(db);
  expect(rows.filter((row) => row.account_wide).map(({ name }) => name)).toEqual(["the first"]);
  expect(
    rows
      .filter((row) => row.signed_in)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["made later", "the first", "with no origin", "with nothing in its access"]);
  await database.close();
  await postgres.close();
  rmSync(folder, { recursive: true });
});
