import { fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "./clock.ts";
import { type Database, openDatabase } from "./database.ts";
import { DatabaseBusy } from "./database-away.ts";
import { type Log, silentLog } from "./log.ts";
import { notifyAfterCommit } from "./notifier.ts";
import { createTestDatabase, type TestDatabase } from "./postgres/postgres-test-database.ts";
import { until } from "./retry.ts";
import { Secret } from "./secret.ts";

let rows: TestDatabase;
let database: Database<unknown>;

beforeAll(async () => {
  rows = await createTestDatabase("template0");
  database = await openDatabase(rows.address, silentLog, systemClock);
});

afterAll(async () => {
  await database?.close();
  await rows?.drop();
});

function recorder() {
  const heard: string[] = [];
  return {
    heard,
    handler: { message: (payload: string) => heard.push(payload), reconnected: () => heard.push("(reconnected)") },
  };
}

const waitFor = (condition: () => boolean) => expect(until(systemClock, 5_000, condition)).resolves.toBe(true);

test("a notification reaches the listeners of its channel and no others", async () => {
  const [mine, other] = [recorder(), recorder()];
  await database.listen("mine", mine.handler);
  await database.listen("other", other.handler);
  await database.notify("mine", "hello");
  await waitFor(() => mine.heard.length > 0);
  expect([mine.heard, other.heard]).toEqual([["hello"], []]);
});

test("a transaction's notification is sent after its commit, and never where it is rolled back", async () => {
  const { heard, handler } = recorder();
  await database.listen("committed", handler);
  const { promise: written, resolve: isWritten } = Promise.withResolvers<void>();
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const committing = database.db.transaction().execute(async (trx) => {
    await notifyAfterCommit(trx, "committed", "a change");
    isWritten();
    await mayCommit;
  });
  await written;
  const { rows: locks } =
    await sql`select from pg_locks where locktype = 'object' and mode = 'AccessExclusiveLock'`.execute(database.db);
  await expect(
    database.vital.transaction().execute(async (trx) => {
      await notifyAfterCommit(trx, "committed", "what never was");
      throw new Error("rolled back");
    }),
  ).rejects.toThrow("rolled back");
  await database.notify("committed", "in between");
  await waitFor(() => heard.length > 0);
  commit();
  await committing;
  await waitFor(() => heard.length > 1);
  expect([heard, locks]).toEqual([["in between", "a change"], []]);
});

test("a closed subscription hears no more", async () => {
  const [first, second] = [recorder(), recorder()];
  const subscription = await database.listen("shared", first.handler);
  await database.listen("shared", second.handler);
  await subscription.close();
  await database.notify("shared", "hello");
  await waitFor(() => second.heard.length > 0);
  expect(first.heard).toEqual([]);
});

test("connections that the server ends are replaced, and listeners are told that they may have missed something", async () => {
  const { heard, handler } = recorder();
  await database.listen("again", handler);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    .execute(database.db)
    .catch(() => {});
  await waitFor(() => heard.includes("(reconnected)"));
  await database.ping();
  await database.notify("again", "hello");
  await waitFor(() => heard.includes("hello"));
});

test("a handler that throws does not take the others' messages", async () => {
  const { heard, handler } = recorder();
  await database.listen("throws", {
    message() {
      throw new Error("broken");
    },
    reconnected() {},
  });
  await database.listen("throws", handler);
  await database.notify("throws", "hello");
  await waitFor(() => heard.length > 0);
});

test("however many questions of viewers wait, others do not, and beyond 500 a question fails at once", async () => {
  let isOver = false;
  const slow = Array.from({ length: 2 }, () => sql`select pg_sleep(1)`.execute(database.viewers));
  const waiting = Array.from({ length: 500 }, () => sql`select 1`.execute(database.viewers));
  void Promise.all([...slow, ...waiting]).then(() => {
    isOver = true;
  });
  await waitFor(() => database.connections().waiting === 500);
  await expect(sql`select 1`.execute(database.viewers)).rejects.toBeInstanceOf(DatabaseBusy);
  await sql`select 1`.execute(database.db);
  await sql`select 1`.execute(database.vital);
  expect(isOver).toBe(false);
  await waitFor(() => isOver);
});

test("questions of viewers and facts of broadcasts are planned once per connection", async () => {
  const ask = (db: typeof database.db) =>
    sql<{ statement: string }>`select statement from pg_prepared_statements where name <> ${""}`.execute(db);
  for (const db of [database.viewers, database.vital]) {
    await ask(db);
    expect((await ask(db)).rows).toContainEqual({
      statement: "select statement from pg_prepared_statements where name <> $1",
    });
  }
  await ask(database.db);
  expect((await ask(database.db)).rows).toEqual([]);
});

test("a payload too long for PostgreSQL is refused by its size", async () => {
  await expect(database.notify("mine", "x".repeat(8_000))).rejects.toThrow("8000 bytes, of 7999 at most");
});

test("a database that is not there is named without the password, and waiting for it can be given up", async () => {
  const lines: string[] = [];
  const warn = (...said: unknown[]) => void lines.push(said.join(" "));
  const log: Log = Object.assign(Object.create(silentLog) as Log, { warn, child: () => silentLog });
  const stop = new AbortController();
  const url = new Secret("postgres://weir:hunter2@127.0.0.1:1/weir");
  const attempt = openDatabase(url, log, systemClock, { signal: stop.signal });
  const refused = expect(attempt).rejects.toThrow("stopped while it was waiting for the database");
  await expect.poll(() => lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^waiting for the database at 127\.0\.0\.1:1: connect ECONNREFUSED/);
  stop.abort();
  await refused;
});

test("a database whose connections end while it starts is waited for", async () => {
  let [ended, isUp] = [0, false];
  const front = createServer((socket) => {
    socket.on("error", () => {});
    if (isUp) {
      const database = connect(join(rows.address.host, `.s.PGSQL.${rows.address.port}`));
      database.on("error", () => socket.destroy());
      return void database.pipe(socket).pipe(database);
    }
    ended++;
    socket.once("data", () => socket.end());
  });
  await once(front.listen(0, "127.0.0.1"), "listening");
  const { port } = front.address() as AddressInfo;
  const url = new Secret(`postgres://${rows.address.user}@127.0.0.1:${port}/${rows.address.database}`);
  const opened = openDatabase(url, silentLog, systemClock);
  await expect.poll(() => ended).toBeGreaterThan(1);
  isUp = true;
  await (await opened).close();
  front.close();
});

test("a database that refuses us is an error without the password", async () => {
  const { host, port } = rows.address;
  const url = new Secret(`postgres://nobody:hunter2@localhost:${port}/postgres?host=${encodeURIComponent(host)}`);
  const attempt = openDatabase(url, silentLog, systemClock);
  await expect(attempt).rejects.toThrow('cannot use the database: role "nobody" does not exist; check DATABASE_URL');
  await expect(attempt).rejects.not.toThrow("hunter2");
});

test("rows that were read and dropped are gone at the next collection of young objects", async () => {
  const rig = fork(fileURLToPath(new URL("./read-rows-rig.ts", import.meta.url)), [JSON.stringify(rows.address)], {
    execArgv: [],
  });
  const [kept] = await once(rig, "message");
  await once(rig, "exit");
  // Of 40 MB.
  expect(kept).toBeLessThan(2);
});
