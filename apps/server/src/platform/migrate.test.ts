import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "./clock.ts";
import { type Database, openDatabase } from "./database.ts";
import { type Log, silentLog } from "./log.ts";
import { type MayContract, migrate, refuseNewerSchema } from "./migrate.ts";
import { createTestDatabase, type TestDatabase } from "./postgres/postgres-test-database.ts";

let rows: TestDatabase;
let database: Database<unknown>;
let folder: string;

beforeAll(async () => {
  rows = await createTestDatabase("template0");
  database = await openDatabase(rows.address, silentLog, systemClock);
});

afterAll(async () => {
  await database?.close();
  await rows?.drop();
});

beforeEach(async () => {
  await sql`drop schema public cascade; create schema public`.execute(database.db);
  folder = await mkdtemp(join(tmpdir(), "weir-migrations-"));
  await writeFile(join(folder, "0001-fruit.sql"), "create table fruit (name text); insert into fruit values ('fig');");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const add = (file: string, text: string) => writeFile(join(folder, file), text);
const run = (mayContract?: MayContract<unknown>) => migrate(database.db, folder, silentLog, mayContract);

async function tables(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public' order by 1`.execute(
    database.db,
  );
  return rows.map(({ name }) => name);
}

test("an empty database gets every migration in order", async () => {
  await add("0002-colour.sql", "alter table fruit add colour text;");
  await run();
  expect((await sql`select * from fruit`.execute(database.db)).rows).toEqual([{ name: "fig", colour: null }]);
});

test("a second run changes nothing, and a later one adds what is new", async () => {
  await run();
  await run();
  expect((await sql`select * from fruit`.execute(database.db)).rows).toHaveLength(1);
  await add("0002-tree.sql", "create table tree ();");
  await run();
  expect(await tables()).toEqual(["fruit", "migration", "tree"]);
});

test("two processes that start together migrate once", async () => {
  await Promise.all([run(), run(), run()]);
  expect((await sql`select * from fruit`.execute(database.db)).rows).toHaveLength(1);
});

test("a failed migration leaves the database as it was, and names itself", async () => {
  await run();
  await add("0002-tree.sql", "create table tree ();");
  await add("0003-broken.sql", "create table bush (); select * from nowhere;");
  await expect(run()).rejects.toThrow(
    'migration 0003-broken failed, and the database is as before: relation "nowhere"',
  );
  expect(await tables()).toEqual(["fruit", "migration"]);
});

test("a database of a newer Weir is refused", async () => {
  await add("0002-tree.sql", "create table tree ();");
  await run();
  await rm(join(folder, "0002-tree.sql"));
  await expect(run()).rejects.toThrow(
    "the database was written by a newer Weir (schema 0002-tree, this one knows 0001-fruit): start that version",
  );
});

test("a migration that was changed after it was applied is refused", async () => {
  await run();
  await add("0001-fruit.sql", "create table fruits ();");
  await expect(run()).rejects.toThrow("the database has 0001-fruit, which is not the 0001-fruit of this Weir");
});

test("a gap in the numbers is refused", async () => {
  await add("0003-tree.sql", "");
  await expect(run()).rejects.toThrow("0003-tree.sql should have number 2");
});

test("however many migrations a start applies, the log has one line about them, and none if there are none", async () => {
  const lines: unknown[] = [];
  const info = (...said: unknown[]) => void lines.push(said);
  const log: Log = Object.assign(Object.create(silentLog) as Log, { info });
  await add("0002-tree.sql", "create table tree ();");
  await migrate(database.db, folder, log);
  await add("0003-leaf.sql", "create table leaf ();");
  await migrate(database.db, folder, log);
  await migrate(database.db, folder, log);
  expect(lines).toEqual([
    [{ from: null, to: "0002-tree", migrations: 2 }, "created the tables of the database"],
    [{ from: "0002-tree", to: "0003-leaf", migrations: 1 }, "migrated the database"],
  ]);
});

describe("of two builds side by side", () => {
  const older = async () => false;
  const isAllowed = (level: number) => database.db.transaction().execute((trx) => refuseNewerSchema(trx, level));
  const takeAway = (file: string) => rm(join(folder, file));

  test("the older one runs on what the newer one has added, and the newer one takes away nothing until the older one is gone", async () => {
    await run();
    await add("0002-tree.sql", "-- expand\ncreate table tree ();");
    await add("0003-fruit.sql", "-- contract\ndrop table fruit;");
    await add("0004-leaf.sql", "-- expand\ncreate table leaf ();");
    expect(await run(older)).toEqual({ level: 4, waitsFor: 3 });
    expect(await tables()).toEqual(["fruit", "leaf", "migration", "tree"]);
    for (const file of ["0002-tree.sql", "0003-fruit.sql", "0004-leaf.sql"]) await takeAway(file);
    expect(await run()).toEqual({ level: 1, waitsFor: null });
    await isAllowed(1);

    await add("0002-tree.sql", "-- expand\ncreate table tree ();");
    await add("0003-fruit.sql", "-- contract\ndrop table fruit;");
    await add("0004-leaf.sql", "-- expand\ncreate table leaf ();");
    const asked: number[] = [];
    const isGone = async (_trx: unknown, number: number) => asked.push(number) > 0;
    expect(await run(isGone)).toEqual({ level: 4, waitsFor: null });
    expect(asked).toEqual([3]);
    expect(await tables()).toEqual(["leaf", "migration", "tree"]);
    await expect(isAllowed(1)).rejects.toThrow("written by a newer Weir (schema 0003-fruit");
    await isAllowed(4);
    for (const file of ["0002-tree.sql", "0003-fruit.sql", "0004-leaf.sql"]) await takeAway(file);
    await expect(run()).rejects.toThrow("written by a newer Weir (schema 0003-fruit, this one knows 0001-fruit)");
  });

  test("an empty database gets what is taken away, too", async () => {
    await add("0002-fruit.sql", "-- contract\ndrop table fruit;");
    expect(await run(older)).toEqual({ level: 2, waitsFor: null });
    expect(await tables()).toEqual(["migration"]);
  });
});
