import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../../platform/postgres/postgres-test-database.ts";
import { makeTestFolder } from "../../platform/test-folder-rig.ts";
import { dumpRows, loadRows } from "./rows.ts";
import { tablesIn, weirTables } from "./tables.ts";

async function database(): Promise<pg.Client> {
  const made = await createTestDatabase();
  const client = new pg.Client(made.address);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await made.drop();
  });
  return client;
}

function folder(): string {
  const made = makeTestFolder("rows");
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test("the tables that the migrations name are those that they make, each behind those that it refers to", async () => {
  const client = await database();
  const { rows } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'migration'",
  );
  expect((await weirTables()).sort()).toEqual(rows.map(({ name }) => name).sort());
  const names = (await tablesIn(client)).map(({ name }) => name);
  expect(names).not.toContain("migration");
  for (const [first, second] of [
    ["account", "project"],
    ["project", "stream"],
    ["stream", "session"],
    ["asset", "clip"],
  ])
    expect(names.indexOf(first ?? "")).toBeLessThan(names.indexOf(second ?? ""));
});

const ACCOUNT = "00000000-0000-4000-8000-000000000001";
const PROJECT = "00000000-0000-4000-8000-000000000002";
const WEBHOOK = "00000000-0000-4000-8000-000000000003";

async function fill(client: pg.Client): Promise<void> {
  const insert = async (table: string, row: Record<string, unknown>) => {
    const { rows } = await client.query<{ column: string }>(
      `select column_name as column from information_schema.columns where table_name = $1 and is_nullable = 'NO'
         and column_default is null and is_identity = 'NO'`,
      [table],
    );
    const needed = Object.fromEntries(rows.map(({ column }) => [column, row[column] ?? 0]));
    const all = { ...needed, ...row };
    const names = Object.keys(all);
    await client.query(
      `insert into ${table} (${names.join(", ")}) values (${names.map((_, i) => `$${i + 1}`).join(", ")})`,
      Object.values(all),
    );
  };
  await insert("account", { id: ACCOUNT });
  await insert("project", { id: PROJECT, user_id: ACCOUNT, name: "tabs\t, lines\n, \\N and 'quotes' ä" });
  await insert("webhook", {
    id: WEBHOOK,
    project_id: PROJECT,
    user_id: ACCOUNT,
    name: "hook",
    url: "https://example.com",
    events: [],
  });
  for (const seq of [1, 2])
    await insert("webhook_delivery", {
      webhook_id: WEBHOOK,
      subject_kind: "stream",
      subject_id: PROJECT,
      seq,
      event: "stream.idle",
    });
  await client.query("create table event_lifecycle_day partition of event_lifecycle for values from (0) to (86400000)");
}

test("rows of any text, of partitions and with numbers of the database come back as they were", async () => {
  const [from, to, path] = [await database(), await database(), folder()];
  await fill(from);
  await from.query("begin isolation level repeatable read read only");
  const manifest = await dumpRows(from, path);
  await from.query("commit");
  const bound = "FOR VALUES FROM ('0') TO ('86400000')";
  expect(manifest.partitions).toEqual([{ name: "event_lifecycle_day", parent: "event_lifecycle", bound }]);
  await to.query("begin");
  await loadRows(to, path, manifest);
  await to.query("commit");
  for (const table of ["account", "project", "webhook", "webhook_delivery"]) {
    const rowsOf = async (client: pg.Client) => (await client.query(`select * from ${table} order by 1`)).rows;
    expect(await rowsOf(to)).toEqual(await rowsOf(from));
  }
  expect((await to.query("select to_regclass('event_lifecycle_day') as name")).rows).toEqual([
    { name: "event_lifecycle_day" },
  ]);
  const next = "select nextval(pg_get_serial_sequence('webhook_delivery', 'id')) as id";
  const { rows } = await to.query<{ id: string }>(next);
  expect(Number(rows[0]?.id)).toBeGreaterThan(2);
});

test("a damaged file is named, and the database stays as it was", async () => {
  const [from, to, path] = [await database(), await database(), folder()];
  await fill(from);
  const manifest = await dumpRows(from, path);
  writeFileSync(join(path, "webhook_delivery.copy"), "");
  await to.query("begin");
  await expect(loadRows(to, path, manifest)).rejects.toThrow("the rows of webhook_delivery in the backup are damaged");
  await to.query("rollback");
  expect((await to.query("select from account")).rowCount).toBe(0);
});
