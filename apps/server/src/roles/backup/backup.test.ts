import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import type { PostgresAddress } from "../../platform/postgres/embedded-postgres.ts";
import { createTestDatabase, type TestDatabase } from "../../platform/postgres/postgres-test-database.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { makeTestFolder } from "../../platform/test-folder-rig.ts";
import { readConfig } from "../config.ts";
import { backUp } from "./backup.ts";
import { FrozenFiles } from "./frozen-files.ts";
import { ObjectIndex } from "./object-index.ts";
import { restore } from "./restore.ts";
import { verifyBackup } from "./verify-backup.ts";

let folder: string;
let source: TestDatabase;
let target: TestDatabase;

beforeEach(async () => {
  folder = makeTestFolder("backup");
  [source, target] = [await createTestDatabase(), await createTestDatabase("template0")];
  await using client = await connected(source.address);
  await client.query(
    "insert into account (id, name, created_at) values ('00000000-0000-4000-8000-000000000001', 'one', 1)",
  );
});

afterEach(async () => {
  await Promise.all([source.drop(), target.drop()]);
  rmSync(folder, { recursive: true });
});

async function connected(address: PostgresAddress): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client(address);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

function settingsOf({ address }: TestDatabase, dataFolder: string) {
  const { user, database, host } = address;
  const config = readConfig({
    WEIR_DATA_DIR: dataFolder,
    DATABASE_URL: `postgresql://${user}@localhost/${database}?host=${host}`,
  });
  return { config, clock: systemClock, log: silentLog };
}

const to = () => join(folder, "to");
const back = (from = join(folder, "data")) =>
  backUp({ ...settingsOf(source, from), to: to(), isWithoutObjects: false, weir: "test", onProgress: () => {} });
const bring = (into = join(folder, "restored")) =>
  restore({ ...settingsOf(target, into), from: to(), onProgress: () => {} });

/** A data folder with objects, a part of a running recording and an upload. */
async function fill(): Promise<LocalObjectStore> {
  const data = join(folder, "data");
  const store = new LocalObjectStore(join(data, "objects"));
  mkdirSync(join(data, "spool", "chapter"), { recursive: true });
  writeFileSync(join(data, "node-name"), "node\n");
  writeFileSync(join(data, "spool", "chapter", "journal.jsonl"), "one\n");
  writeFileSync(join(data, "spool", "chapter", "span.m4s"), "bytes");
  await store.open();
  await store.put("v1/p/a", Buffer.from("first"));
  await store.put("v1/p/rec/s/b", Buffer.from("second"));
  return store;
}

test("rows, objects and a node's files are restored as they were, and only into what is empty", async () => {
  await fill();
  const manifest = await back();
  expect(manifest.objects).toEqual({ count: 2, bytes: 11 });
  await verifyBackup(to(), () => {});
  await bring();
  const restored = join(folder, "restored");
  expect(readFileSync(join(restored, "objects/v1/p/rec/s/b"), "utf8")).toBe("second");
  expect(readFileSync(join(restored, "spool/chapter/journal.jsonl"), "utf8")).toBe("one\n");
  expect(readFileSync(join(restored, "node-name"), "utf8")).toBe("node\n");
  await using client = await connected(target.address);
  expect((await client.query("select created_at from account")).rows).toEqual([{ created_at: "1" }]);
  await expect(bring()).rejects.toThrow("is not empty");
  await expect(bring(join(folder, "other"))).rejects.toThrow("already holds the data of a Weir");
});

test("a second backup copies what is new, and forgets what was deleted", async () => {
  const store = await fill();
  await back();
  await store.put("v1/p/c", Buffer.from("third"));
  await store.delete("v1/p/a");
  writeFileSync(
    join(folder, "data/objects/v1/p/rec/s/b"),
    "changed by a test: objects never change, so this is not read",
  );
  const { objects } = await back();
  expect(objects?.count).toBe(2);
  expect(existsSync(join(to(), "objects/v1/p/a"))).toBe(false);
  expect(readFileSync(join(to(), "objects/v1/p/rec/s/b"), "utf8")).toBe("second");
});

test("a backup whose index is lost or damaged restores nothing, and the next run copies all again", async () => {
  await fill();
  await back();
  const index = join(to(), "objects.sqlite");
  writeFileSync(
    index,
    "no index, but some text that is longer than a header of SQLite would be, which has a hundred bytes",
  );
  await expect(bring()).rejects.toThrow("cannot be read");
  unlinkSync(index);
  await expect(verifyBackup(to(), () => {})).rejects.toThrow("lists 0 of 2");
  await expect(bring()).rejects.toThrow("lists 0 of 2");
  expect((await back()).objects?.count).toBe(2);
  await bring();
});

test("an index forgets what was not found, lists all in pages, and after a kill knows what was synced", () => {
  const path = join(folder, "index.sqlite");
  const [index, after] = [new ObjectIndex(path), new ObjectIndex(path)];
  index.open();
  for (let n = 0; n < 2_500; n++) index.add(`v1/${n}`, { bytes: 2, sha256: "ab" });
  // Its last lines are not committed: another process reads what a kill would leave.
  after.open();
  expect([after.size, after.get("v1/2495"), after.get("v1/2499")]).toEqual([
    2_496,
    { bytes: 2, sha256: "ab" },
    undefined,
  ]);
  after.close();
  expect(new Set(index.keys()).size).toBe(2_500);
  for (const key of ["v1/7", "v1/2499"]) index.noteFound(key);
  expect(index.sumOfFound()).toEqual({ count: 2, bytes: 4 });
  const gone: string[] = [];
  for (let keys = index.forgetUnfound(); keys.length > 0; keys = index.forgetUnfound()) gone.push(...keys);
  expect(new Set(gone).size).toBe(2_498);
  expect([index.size, ...index.keys()]).toEqual([2, "v1/2499", "v1/7"]);
  index.close();
});

test("a damaged object is named by the restore, which leaves a folder that no server starts on, and is copied again by a backup", async () => {
  await fill();
  await back();
  writeFileSync(join(to(), "objects/v1/p/a"), "wrong");
  await expect(verifyBackup(to(), () => {})).rejects.toThrow("v1/p/a");
  await expect(bring()).rejects.toThrow("the object v1/p/a of the backup is damaged");
  expect(existsSync(join(folder, "restored", "restoring.json"))).toBe(true);
  unlinkSync(join(to(), "objects/v1/p/a"));
  await back();
  await expect(bring()).rejects.toThrow("the restore of the backup");
  rmSync(join(folder, "restored"), { recursive: true });
  await bring();
  expect(existsSync(join(folder, "restored", "restoring.json"))).toBe(false);
});

test("files that grow or go while they are copied are as they were at one moment", async () => {
  await fill();
  const data = join(folder, "data");
  const frozen = new FrozenFiles(data);
  await frozen.look();
  await frozen.freeze();
  appendFileSync(join(data, "spool/chapter/span.m4s"), " and more");
  rmSync(join(data, "spool/chapter/journal.jsonl"));
  const files = await frozen.copyTo(join(folder, "copy"));
  expect(files.map(({ path, bytes }) => [path, bytes])).toEqual([
    ["spool/chapter/journal.jsonl", 4],
    ["node-name", 5],
    ["spool/chapter/span.m4s", 5],
  ]);
  expect(readFileSync(join(folder, "copy/spool/chapter/span.m4s"), "utf8")).toBe("bytes");
  await frozen.release();
  expect(existsSync(join(data, "backup-links"))).toBe(false);
});

test.each([
  ["an id that ends a statement", { id: "x'; drop table account; --" }],
  ["a file outside the folder", { files: [{ path: "../../etc/cron.d/x", bytes: 1, sha256: "" }] }],
])("a backup with %s is refused before anything is written", async (_what, change) => {
  await fill();
  const manifest = await back();
  writeFileSync(join(to(), "backup.json"), JSON.stringify({ ...manifest, ...change }));
  await expect(bring()).rejects.toThrow("is not as Weir wrote it");
  expect(existsSync(join(folder, "restored"))).toBe(false);
});

test("a folder of something else is not taken for a backup", async () => {
  await fill();
  mkdirSync(to());
  await expect(bring()).rejects.toThrow("holds no complete backup");
  writeFileSync(join(to(), "letter.txt"), "dear");
  await expect(back()).rejects.toThrow("holds other things than a backup");
});
