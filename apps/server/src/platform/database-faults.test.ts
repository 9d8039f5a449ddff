import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";
import { type Database, openDatabase } from "./database.ts";
import { DatabaseAway } from "./database-away.ts";
import { silentLog } from "./log.ts";
import { startTemporaryPostgres } from "./postgres/temporary-postgres-rig.ts";
import { sleep, until } from "./retry.ts";
import { Secret } from "./secret.ts";

// An error that nobody listens to fails these tests by itself: Vitest reports what would have ended the process.

const LOOPS = 8;

let postgres: Awaited<ReturnType<typeof startTemporaryPostgres>>;

beforeAll(async () => {
  postgres = await startTemporaryPostgres();
});

afterAll(() => postgres.close());

const postmasterPid = () =>
  Number.parseInt(readFileSync(join(postgres.dataFolder, "pg", "18", "postmaster.pid"), "utf8"), 10);

const answersAgain = (database: Database<unknown>) =>
  vi.waitFor(() => database.ping(), { timeout: 10_000, interval: 50 });

/** Ends only with its backend. */
const ENDLESS = "select pg_sleep(3600)";

/** Statements and transactions without a pause, on most connections of the pool, and one that is under way until its backend ends. */
function startLoad(database: Database<unknown>) {
  const counts = { succeeded: 0, failed: 0 };
  let isOver = false;
  const failedOf = (failure: unknown) => {
    expect(failure).toBeInstanceOf(DatabaseAway);
    counts.failed++;
  };
  const underWay = sql
    .raw(ENDLESS)
    .execute(database.db)
    .then(() => expect.unreachable("it ends with its backend"), failedOf);
  const loop = async (index: number) => {
    while (!isOver) {
      const statement =
        index % 2 === 0
          ? sql`select 1`.execute(database.db)
          : database.db.transaction().execute(async (trx) => {
              await sql`select 1`.execute(trx);
              await setImmediate();
              await sql`select 1`.execute(trx);
            });
      await statement.then(
        () => counts.succeeded++,
        async (failure) => {
          failedOf(failure);
          await answersAgain(database);
        },
      );
    }
  };
  const loops = Array.from({ length: LOOPS }, (_, index) => loop(index));
  return {
    counts,
    async stop() {
      isOver = true;
      await Promise.all([underWay, ...loops]);
    },
  };
}

/** The process that runs the endless statement, when there is one. */
async function busyBackend(): Promise<number> {
  const client = new pg.Client(postgres.address);
  client.on("error", () => {});
  await client.connect();
  const busy = async () =>
    (await client.query<{ pid: number }>("select pid from pg_stat_activity where query = $1", [ENDLESS])).rows;
  await expect.poll(busy).toHaveLength(1);
  const [row] = await busy();
  await client.end();
  return row?.pid ?? expect.unreachable("it is under way");
}

test.each([
  ["a database killed by SIGKILL", () => process.kill(postmasterPid(), "SIGKILL")],
  ["a database shut down by SIGINT", () => process.kill(postmasterPid(), "SIGINT")],
  ["one backend killed by SIGKILL", (backend: number) => process.kill(backend, "SIGKILL")],
])("%s while statements run fails them alone, and later ones succeed", async (_, harm) => {
  const database = await openDatabase(postgres.address, silentLog, systemClock);
  await database.listen("news", { message() {}, reconnected() {} });
  const load = startLoad(database);
  await expect(until(systemClock, 10_000, () => load.counts.succeeded > 3 * LOOPS)).resolves.toBe(true);
  harm(await busyBackend());
  await expect(until(systemClock, 10_000, () => load.counts.failed > 0)).resolves.toBe(true);
  await answersAgain(database);
  const { succeeded } = load.counts;
  await expect(until(systemClock, 10_000, () => load.counts.succeeded > succeeded + LOOPS)).resolves.toBe(true);
  await load.stop();
  await database.close();
});

test("a statement that takes too long is no answer; one that the server refuses is", async () => {
  const database = await openDatabase(postgres.address, silentLog, systemClock, { maxStatementMs: 50 });
  await expect(sql`select pg_sleep(5)`.execute(database.db)).rejects.toBeInstanceOf(DatabaseAway);
  const refused = sql`select 1/0`.execute(database.db);
  await expect(refused).rejects.toMatchObject({ code: "22012" });
  await expect(refused).rejects.not.toBeInstanceOf(DatabaseAway);
  await sql`select pg_sleep(1.5)`.execute(database.unhurried);
  await database.close();
});

test("a transaction left alone for too long is ended by the server, and the process goes on", async () => {
  const database = await openDatabase(postgres.address, silentLog, systemClock);
  const isThere = async (pid: number) =>
    (await sql`select 1 from pg_stat_activity where pid = ${pid}`.execute(database.db)).rows.length > 0;
  const slow = database.db.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 50`.execute(trx);
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    while (await isThere(rows[0]?.pid ?? 0)) await sleep(systemClock, 20);
    await sql`select 1`.execute(trx);
  });
  await expect(slow).rejects.toBeInstanceOf(DatabaseAway);
  await database.ping();
  await database.close();
});

/** Passes bytes on until its connections are silenced: they stay open and nothing goes through any more. New ones work. */
class SilentProxy {
  readonly #open = new Set<Socket>();
  readonly #server = createServer((near) => {
    const { host, port } = postgres.address;
    const far = connect(join(host, `.s.PGSQL.${port}`));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#open.add(from.pipe(to));
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
    }
  });

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  silence(): void {
    for (const socket of this.#open) socket.unpipe().pause();
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

test("a transaction whose connection goes silent fails as soon as its statement, and waits for no answer to its rollback", async () => {
  const proxy = new SilentProxy();
  const { user, database: name } = postgres.address;
  const url = new Secret(`postgres://${user}@127.0.0.1:${await proxy.listen()}/${name}`);
  const database = await openDatabase(url, silentLog, systemClock, { maxStatementMs: 1_000 });
  const failed: string[] = [];
  const noted = (what: string) => () => void failed.push(what);
  let other: Promise<void> | undefined;
  const transaction = database.db.transaction().execute(async (trx) => {
    // Its statements may take a quarter longer, and not twice as long.
    await sql`select 1`.execute(database.lease);
    proxy.silence();
    other = sql`select 1`.execute(database.lease).then(() => {}, noted("a heartbeat"));
    await sql`select 1`.execute(trx);
  });
  await transaction.catch(noted("the transaction"));
  await other;
  expect(failed).toEqual(["the transaction", "a heartbeat"]);
  await database.close();
  await proxy.close();
});

test("connections that go silent are replaced: of statements, idle ones and the one that listens", async () => {
  const proxy = new SilentProxy();
  const port = await proxy.listen();
  const { user, database: name } = postgres.address;
  const url = new Secret(`postgres://${user}@127.0.0.1:${port}/${name}`);
  const impatient = {
    ...systemClock,
    every: (ms: number, act: () => void) => systemClock.every(Math.min(ms, 200), act),
  };
  const database = await openDatabase(url, silentLog, impatient, { maxStatementMs: 500 });
  const heard: string[] = [];
  await database.listen("news", { message: (text) => heard.push(text), reconnected: () => heard.push("(again)") });
  const load = startLoad(database);
  await expect(until(systemClock, 10_000, () => load.counts.succeeded > 3 * LOOPS)).resolves.toBe(true);
  proxy.silence();
  await expect(until(systemClock, 10_000, () => load.counts.failed > 0)).resolves.toBe(true);
  await answersAgain(database);
  const { succeeded } = load.counts;
  await expect(until(systemClock, 10_000, () => load.counts.succeeded > succeeded + LOOPS)).resolves.toBe(true);
  await load.stop();
  await expect(until(systemClock, 15_000, () => heard.includes("(again)"))).resolves.toBe(true);
  await database.notify("news", "hello");
  await expect(until(systemClock, 5_000, () => heard.includes("hello"))).resolves.toBe(true);
  await database.close();
  await proxy.close();
});
