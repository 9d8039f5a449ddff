import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { takeLock } from "../../platform/folder-lock.ts";
import { silentLog } from "../../platform/log.ts";
import { migrate } from "../../platform/migrate.ts";
import { startEmbeddedPostgres } from "../../platform/postgres/embedded-postgres.ts";
import { createTestDatabase, type TestDatabase } from "../../platform/postgres/postgres-test-database.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { S3ObjectStore } from "../../platform/storage/s3-object-store.ts";
import { startS3TestServer } from "../../platform/storage/s3-test-server.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";
import { makeTestFolder } from "../../platform/test-folder-rig.ts";
import { readConfig } from "../config.ts";
import { inWords } from "./in-words.ts";
import { type MoveReport, move } from "./move.ts";
import { MIGRATIONS } from "./tables.ts";

const OBJECTS = 12;
const keyOf = (n: number): string => `v1/p/rec/s/${n}`;
const bytesOf = (n: number): Buffer => Buffer.alloc(1_000 + n, n);

/** A whole data folder, which no test changes. */
const old = makeTestFolder("old");
beforeAll(async () => {
  const postgres = await startEmbeddedPostgres({ dataFolder: old, clock: systemClock, log: silentLog });
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ ...postgres.address, max: 1 }) }) });
  await migrate(db, MIGRATIONS, silentLog);
  await db.destroy();
  await using client = await connected(postgres.address);
  await client.query(
    "insert into account (id, name, created_at) values ('00000000-0000-4000-8000-000000000001', 'one', 1)",
  );
  await client.end();
  await postgres.close();
  const store = new LocalObjectStore(join(old, "objects"));
  await store.open();
  for (let n = 0; n < OBJECTS; n++) await store.put(keyOf(n), bytesOf(n));
  mkdirSync(join(old, "spool", "chapter"), { recursive: true });
  writeFileSync(join(old, "spool/chapter/journal.jsonl"), "one\n");
  writeFileSync(join(old, "node-name"), "node\n");
  writeFileSync(join(old, "letter.txt"), "dear");
  writeFileSync(join(old, "objects/v1/p/holiday pictures.zip"), "of somebody else");
  writeFileSync(join(old, "objects/v1/p/.part.Xy12"), "left by rsync");
});
afterAll(() => rmSync(old, { recursive: true }));

let target: TestDatabase;
let folder: string;
beforeEach(async () => {
  target = await createTestDatabase("template0");
  folder = makeTestFolder("move");
  onTestFinished(async () => {
    await target.drop();
    rmSync(folder, { recursive: true });
  });
});

async function connected(address: pg.ClientConfig): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client(address);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** An S3 server behind something that fails in the ways of real ones. */
interface Bucket {
  readonly env: Readonly<Record<string, string>>;
  readonly store: S3ObjectStore;
  /** Status and code in place of an answer. */
  refuse: (request: IncomingMessage) => readonly [number, string] | null;
  /** Gives back other bytes than it took. */
  lies: boolean;
  /** Keys of the objects that were written whole. */
  readonly written: string[];
}

async function startBucket(): Promise<Bucket> {
  const s3 = await startS3TestServer();
  const bucket = { refuse: () => null, lies: false, written: [] as string[] } as Omit<Bucket, "env" | "store">;
  const server = createServer(async (incoming, outgoing) => {
    const refused = bucket.refuse(incoming);
    const body = await buffer(incoming);
    if (refused) return void outgoing.writeHead(refused[0]).end(`<Error><Code>${refused[1]}</Code></Error>`);
    const key = keyIn(incoming);
    if (incoming.method === "POST" && incoming.url?.includes("uploadId=") && key.includes("/rec/"))
      bucket.written.push(key);
    const { url = "", method, headers } = incoming;
    const onward = request(new URL(url, s3.settings.endpoint), { method, headers }, async (answer) => {
      const bytes = await buffer(answer);
      if (bucket.lies && method === "GET" && key.includes("/rec/")) bytes[0] = (bytes[0] ?? 0) ^ 1;
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(bytes);
    });
    onward.on("error", () => outgoing.destroy());
    onward.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await s3.close();
  });
  const env = { ...s3.env, WEIR_S3_ENDPOINT: endpoint };
  return Object.assign(bucket, { env, store: new S3ObjectStore({ ...s3.settings, endpoint }, systemClock) });
}

const keyIn = ({ url = "" }: IncomingMessage): string =>
  new URL(url, "http://s3").pathname.split("/").slice(2).join("/");

interface Change {
  readonly from?: string;
  readonly isAhead?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** As the command does it. */
function moved({ env }: Pick<Bucket, "env">, change: Change = {}): Promise<MoveReport> {
  const { user, database, host } = target.address;
  const config = readConfig({
    ...env,
    WEIR_DATA_DIR: join(folder, "new"),
    DATABASE_URL: `postgresql://${user}:hidden@localhost/${database}?host=${host}`,
    ...change.env,
  });
  const { from = old, isAhead = false } = change;
  const settings = { config, clock: systemClock, log: silentLog, from, isAhead, onProgress: () => {} };
  return move(settings).catch(inWords("weir move"));
}

async function accounts(): Promise<unknown[]> {
  await using client = await connected(target.address);
  return (await client.query("select name from account")).rows;
}

/** Everything in the old folder but the files of its database, which writes when it is started. */
const snapshot = (): string[] =>
  globSync("**", { cwd: old, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/(pg|run)\//.test(path) && !path.endsWith(".lock"))
    .map((path) => `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`)
    .sort();

test("a data folder moves to a database, a bucket and a new folder, and stays as it was", async () => {
  const bucket = await startBucket();
  const before = snapshot();
  const report = await moved(bucket);
  expect(snapshot()).toEqual(before);
  for (let n = 0; n < OBJECTS; n++) expect(await buffer(await bucket.store.read(keyOf(n)))).toEqual(bytesOf(n));
  expect(await accounts()).toEqual([{ name: "one" }]);
  expect(readFileSync(join(folder, "new/spool/chapter/journal.jsonl"), "utf8")).toBe("one\n");
  expect(readFileSync(join(folder, "new/node-name"), "utf8")).toBe("node\n");
  expect(existsSync(join(folder, "new/restoring.json"))).toBe(false);
  const objects = { count: OBJECTS, bytes: OBJECTS * 1_000 + (OBJECTS * (OBJECTS - 1)) / 2 };
  expect(report).toMatchObject({ from: old, objects, files: 2, left: ["letter.txt"] });
  expect(report.settings).toEqual([
    { variable: "WEIR_DATA_DIR", value: join(folder, "new") },
    { variable: "DATABASE_URL", value: null },
    { variable: "WEIR_S3_BUCKET", value: bucket.env.WEIR_S3_BUCKET },
    { variable: "WEIR_S3_ENDPOINT", value: bucket.env.WEIR_S3_ENDPOINT },
    { variable: "WEIR_S3_ACCESS_KEY_ID", value: null },
    { variable: "WEIR_S3_SECRET_ACCESS_KEY", value: null },
  ]);
  expect(JSON.stringify(report)).not.toMatch(/hidden|S3RVER/);
  await expect(moved(bucket)).rejects.toThrow("is not empty: set WEIR_DATA_DIR to a new folder");
});

test("a key that the bucket refuses midway, a full bucket and a full database end a move in words; each next run goes on", async () => {
  const bucket = await startBucket();
  bucket.refuse = () => (bucket.written.length >= 4 ? [403, "InvalidAccessKeyId"] : null);
  await expect(moved(bucket)).rejects.toThrow(
    /403 InvalidAccessKeyId: check WEIR_S3_….*then repeat weir move, which goes on where it stopped$/,
  );
  const first = bucket.written.length;
  expect(first).toBeLessThan(OBJECTS);
  bucket.refuse = ({ method }) =>
    bucket.written.length >= first + 3 && method === "PUT" ? [507, "XMinioStorageFull"] : null;
  await expect(moved(bucket)).rejects.toThrow("make room in the bucket");
  bucket.refuse = () => null;
  await using client = await connected(target.address);
  await client.query(`create function is_full() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`);
  await client.query("create trigger is_full before insert on account for each row execute function is_full()");
  await expect(moved(bucket)).rejects.toThrow(
    "the database refused (53100 could not extend file): make room on its disk",
  );
  expect(await accounts()).toEqual([]);
  await client.query("drop trigger is_full on account");
  const { objects } = await moved(bucket);
  expect(objects.count).toBe(OBJECTS);
  // What had been compared before is not written again; what ran when a run ended may be.
  expect(new Set(bucket.written).size).toBe(OBJECTS);
  expect(bucket.written.length).toBeLessThanOrEqual(OBJECTS + 8);
  expect(await accounts()).toEqual([{ name: "one" }]);
});

test("a bucket that gives back other bytes than it acknowledged is found out before a row is moved", async () => {
  const bucket = await startBucket();
  bucket.lies = true;
  await expect(moved(bucket)).rejects.toThrow(/the object v1\/p\/rec\/s\/\d+ was written .* so use another one/);
  expect(await accounts()).toEqual([]);
  bucket.lies = false;
  expect((await moved(bucket)).objects.count).toBe(OBJECTS);
});

test("objects are copied ahead while a server runs; what it deletes meanwhile does not stay in the bucket", async () => {
  const bucket = await startBucket();
  const server = await takeLock(join(old, "weir.lock"));
  const postgres = await startEmbeddedPostgres({ dataFolder: old, clock: systemClock, log: silentLog });
  await expect(moved(bucket)).rejects.toThrow(`a server runs on ${old}: stop it first`);
  const store = new LocalObjectStore(join(old, "objects"));
  await store.put("v1/p/rec/s/gone", Buffer.from("soon"));
  expect(await moved(bucket, { isAhead: true })).toMatchObject({ objects: { count: OBJECTS + 1 }, tables: null });
  expect(await accounts()).toEqual([]);
  await store.delete("v1/p/rec/s/gone");
  await postgres.close();
  await server?.release();
  const ahead = bucket.written.length;
  expect(await moved(bucket)).toMatchObject({ objects: { count: OBJECTS } });
  expect(bucket.written.length).toBe(ahead);
  expect(await bucket.store.size("v1/p/rec/s/gone")).toBeNull();
});

test("a target that is not empty, not new enough or not there is refused before anything is copied", async () => {
  const bucket = await startBucket();
  const refused = (change: Change) => expect(moved(bucket, change)).rejects;
  await refused({ env: { WEIR_S3_BUCKET: "" } }).toThrow("set WEIR_S3_BUCKET to");
  await refused({ env: { DATABASE_URL: "", WEIR_S3_BUCKET: "" } }).toThrow("set DATABASE_URL and WEIR_S3_BUCKET to");
  await refused({ env: { WEIR_DATA_DIR: old } }).toThrow("is where the data is");
  await refused({ env: { WEIR_DATA_DIR: join(old, "new") } }).toThrow("is where the data is");
  await refused({ from: folder }).toThrow(`${folder} holds no database`);
  await bucket.store.put("v1/other/object", Buffer.from("x"));
  await refused({}).toThrow("already holds objects of a Weir");
  await bucket.store.delete("v1/other/object");
  bucket.refuse = () => [403, "AccessDenied"];
  await refused({}).toThrow("403 AccessDenied");
  bucket.refuse = () => null;
  await using client = await connected(target.address);
  await client.query("insert into migration (number, name, digest) values (9999, '9999-later', 'x')");
  await refused({}).toThrow("was written by a newer Weir (schema 9999-later");
  await client.query("delete from migration where number = 9999");
  await client.query("insert into account (id, name, created_at) values (gen_random_uuid(), 'another', 1)");
  await refused({}).toThrow("already holds the data of a Weir");
  expect(bucket.written).toEqual([]);
  expect(await accounts()).toEqual([{ name: "another" }]);
});

test("rows that were moved before the old server ran once more are not taken for those of now", async () => {
  const bucket = await startBucket();
  await moved(bucket);
  const note = async () => {
    await using client = await connected(target.address);
    const { rows } = await client.query<{ note: string }>(
      "select obj_description('migration'::regclass, 'pg_class') as note",
    );
    return rows[0]?.note ?? "";
  };
  const [, id = ""] = /^moved by (\S+) /.exec(await note()) ?? [];
  const task = `the move of ${old} to bucket ${bucket.env.WEIR_S3_BUCKET} at ${bucket.env.WEIR_S3_ENDPOINT}`;
  // As a kill between the commit and the end leaves it.
  writeFileSync(join(folder, "new/restoring.json"), JSON.stringify({ id, task }));
  expect((await moved(bucket)).objects.count).toBe(OBJECTS);
  writeFileSync(join(folder, "new/restoring.json"), JSON.stringify({ id, task }));
  await using client = await connected(target.address);
  await client.query(`comment on table migration is 'moved by ${id} 0123456789abcdef'`);
  await expect(moved(bucket)).rejects.toThrow("the server has run since");
});

test("a full disk, a lost database and a bucket without an answer are said in a sentence; a bug is not", () => {
  const failure = (values: object) => () => inWords("weir move")(Object.assign(new Error("it broke"), values));
  expect(failure({ code: "ENOSPC", path: "/data/rows" })).toThrow("no space left on the disk of /data/rows: make room");
  expect(failure({ errcode: 13 })).toThrow("no space left on the disk: make room there, then repeat weir move");
  expect(failure({ code: "ECONNRESET" })).toThrow("the connection to the database was lost (it broke)");
  expect(() => inWords("weir move")(new StoreFailed("read", "v1/a", { error: new Error("gone") }))).toThrow(
    "see that it can be reached, then repeat weir move",
  );
  expect(failure({ code: "ENOENT", path: "/data/rows" })).toThrow(/^it broke$/);
});
