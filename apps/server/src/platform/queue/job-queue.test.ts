import { sql } from "kysely";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../clock.ts";
import { type Database, openDatabase } from "../database.ts";
import { silentLog } from "../log.ts";
import { createTestDatabase, type TestDatabase } from "../postgres/postgres-test-database.ts";
import type { Job, JobKind } from "./job.ts";
import { JobQueue } from "./job-queue.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

let rows: TestDatabase;
let database: Database<never>;
const queues: JobQueue[] = [];

beforeEach(async () => {
  rows = await createTestDatabase("template0");
  database = await openDatabase<never>(rows.address, silentLog, systemClock);
});

afterEach(async () => {
  await Promise.all(queues.splice(0).map((queue) => queue.close()));
  await database.close();
  await rows.drop();
});

function kindOf(run: JobKind["run"], change: Partial<JobKind> = {}): JobKind {
  return { name: "chore", maxAtOnce: 1, maxSeconds: 60, maxRetries: 3, firstRetrySeconds: 1, run, ...change };
}

/** A process that works on jobs of this kind. */
function queueOf(kind: JobKind, lookSeconds = 0.5) {
  const { jobs: db } = database;
  const rhythm = { lookSeconds, superviseSeconds: 1 };
  const queue = new JobQueue({ db, channels: database, clock: systemClock, log: silentLog, kinds: [kind], ...rhythm });
  queues.push(queue);
  return Object.assign(queue, { work: () => queue.start([kind]) });
}

async function statusOf(id: string): Promise<unknown> {
  const { rows } = await sql`select state, retry_count as retries from weir_jobs.job where id = ${id}`.execute(
    database.db,
  );
  return rows[0];
}

/** As if the heartbeat had not been heard for a minute. */
async function stopHeartbeat(id: string): Promise<void> {
  await sql`update weir_jobs.job set heartbeat_on = now() - interval '1 minute' where id = ${id}`.execute(database.db);
}

/** A handler that runs until it is told to end. */
function held() {
  const jobs: Job[] = [];
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const run = async (job: Job) => {
    jobs.push(job);
    await ended;
  };
  return { jobs, run, end };
}

test("a job that fails is retried with back-off", async () => {
  const runs: number[] = [];
  const kind = kindOf(async () => {
    runs.push(performance.now());
    if (runs.length < 2) throw new Error(`failed ${runs.length}`);
  });
  const queue = queueOf(kind);
  queue.work();
  const id = (await queue.add(kind, { of: "a" })) ?? "";
  await vi.waitFor(async () => expect(await statusOf(id)).toMatchObject({ state: "completed", retries: 1 }), PATIENCE);
  const [first = 0, second = 0] = runs;
  expect(second - first).toBeGreaterThan(500);
});

test("a job that fails too often is given up", async () => {
  let runs = 0;
  const kind = kindOf(
    async () => {
      runs += 1;
      throw new Error("always");
    },
    { maxRetries: 1 },
  );
  const queue = queueOf(kind);
  queue.work();
  const id = (await queue.add(kind)) ?? "";
  await vi.waitFor(async () => expect(await statusOf(id)).toMatchObject({ state: "failed" }), PATIENCE);
  expect(runs).toBe(2);
});

test("no more jobs of a kind run at a time than may, on each process", async () => {
  let done = 0;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const counted = () => {
    const load = { running: 0, most: 0 };
    const run = async () => {
      load.most = Math.max(load.most, ++load.running);
      await released;
      // Long enough for the next job to begin too early.
      await new Promise((resolve) => setTimeout(resolve, 100));
      load.running -= 1;
      done += 1;
    };
    return { load, kind: kindOf(run, { maxAtOnce: 2 }) };
  };
  const [one, other] = [counted(), counted()];
  const all = [queueOf(one.kind), queueOf(other.kind)];
  for (const queue of all) queue.work();
  for (let i = 0; i < 8; i++) await all[0]?.add(one.kind);
  await vi.waitFor(() => expect(one.load.running + other.load.running).toBeGreaterThanOrEqual(2), PATIENCE);
  release();
  await vi.waitFor(() => expect(done).toBe(8), PATIENCE);
  expect(one.load.most).toBeLessThanOrEqual(2);
  expect(other.load.most).toBeLessThanOrEqual(2);
});

test("an owner with many jobs leaves places to others, who do not wait behind them", async () => {
  const { jobs, run, end } = held();
  const kind = kindOf(run, { name: "shared", isOnePerKey: true, maxAtOnce: 3, maxPerOwner: 2 });
  const queue = queueOf(kind);
  for (let n = 0; n < 5; n++) await queue.add(kind, { of: "a" }, { owner: "a", key: `a${n}` });
  await queue.add(kind, { of: "b" }, { owner: "b", key: "b" });
  queue.work();
  const running = () => jobs.map(({ data }) => (data as { of: string }).of).sort();
  await vi.waitFor(() => expect(running()).toEqual(["a", "a", "b"]), PATIENCE);
  end();
  await vi.waitFor(() => expect(running()).toEqual(["a", "a", "a", "a", "a", "b"]), PATIENCE);
});

test("an owner gets no more places while the database is slow to hand out a job", async () => {
  const { jobs, run, end } = held();
  const kind = kindOf(run, { maxAtOnce: 3, maxPerOwner: 2 });
  const queue = queueOf(kind);
  // The second job is still being handed out when the third worker asks for one.
  for (const seconds of [0.2, 0.6, 0]) await queue.add(kind, { seconds }, { owner: "a" });
  await sql`create function be_slow() returns trigger language plpgsql as
    'begin perform pg_sleep((new.data ->> ''seconds'')::float); return new; end'`.execute(database.db);
  await sql`create trigger slow before update on weir_jobs.job_common for each row when (new.state = 'active')
    execute function be_slow()`.execute(database.db);
  queue.work();
  const counts = async () => {
    const { rows } = await sql`select
      (select count(*)::int from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep') slow,
      (select count(*)::int from weir_jobs.job where state = 'active') running`.execute(database.db);
    return rows[0];
  };
  await expect.poll(counts).toEqual({ slow: 0, running: 2 });
  end();
  await vi.waitFor(() => expect(jobs).toHaveLength(3), PATIENCE);
});

test("a job whose process died is done by another", async () => {
  const dead = held();
  const kind = kindOf(dead.run);
  const first = queueOf(kind);
  first.work();
  const id = (await first.add(kind)) ?? "";
  await vi.waitFor(() => expect(dead.jobs.length).toBe(1), PATIENCE);
  let done = 0;
  const second = queueOf(kindOf(async () => void done++));
  second.work();
  await stopHeartbeat(id);
  await vi.waitFor(async () => expect(await statusOf(id)).toMatchObject({ state: "completed" }), PATIENCE);
  expect(done + dead.jobs.length).toBe(2);
  dead.end();
});

test("a periodic job is queued once, however many processes there are", async () => {
  let runs = 0;
  const kind = kindOf(async () => void runs++, { everySeconds: 86_400 });
  const all = [queueOf(kind), queueOf(kind), queueOf(kind)];
  for (const queue of all) queue.work();
  await vi.waitFor(() => expect(runs).toBe(1), PATIENCE);
  expect(await all[1]?.add(kind, {}, { onceInSeconds: 86_400 })).toBeNull();
  expect(runs).toBe(1);
});

test("jobs go on after the database dropped every connection in the middle of one", async () => {
  const { jobs, run, end } = held();
  const kind = kindOf(run);
  const queue = queueOf(kind);
  queue.work();
  const id = (await queue.add(kind)) ?? "";
  await vi.waitFor(() => expect(jobs.length).toBe(1), PATIENCE);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(database.db);
  end();
  const next = await vi.waitFor(async () => (await queue.add(kind)) ?? "", PATIENCE);
  // Nobody could write how it ended: it counts as one whose process died.
  await stopHeartbeat(id);
  for (const one of [id, next])
    await vi.waitFor(async () => expect(await statusOf(one)).toMatchObject({ state: "completed" }), PATIENCE);
});

test("a statement that fails in a transaction of its own leaves no connection in that transaction", async () => {
  for (let i = 0; i < 3; i++)
    await expect(sql.raw("begin; select 1 / 0; commit").execute(database.jobs)).rejects.toThrow("division by zero");
  expect((await sql`select 1 as one`.execute(database.jobs)).rows).toEqual([{ one: 1 }]);
});

test("a process that closes gives its job back, and another does it", async () => {
  const { jobs, run, end } = held();
  const kind = kindOf(run);
  const closing = queueOf(kind);
  closing.work();
  const id = (await closing.add(kind)) ?? "";
  await vi.waitFor(() => expect(jobs.length).toBe(1), PATIENCE);
  await closing.close();
  expect(jobs[0]?.signal.aborted).toBe(true);
  end();
  const other = queueOf(kindOf(async () => {}));
  other.work();
  await vi.waitFor(async () => expect(await statusOf(id)).toMatchObject({ state: "completed", retries: 1 }), PATIENCE);
});

test("a job begins at once, whichever process added it, however seldom its process looks", async () => {
  const seen: object[] = [];
  const kind = kindOf(async ({ data }) => void seen.push(data));
  const queue = queueOf(kind, 60);
  queue.work();
  await queue.add(kind, { of: "the first look" });
  await vi.waitFor(() => expect(seen).toHaveLength(1), PATIENCE);
  await queue.add(kind, { of: "this process" });
  await vi.waitFor(() => expect(seen).toHaveLength(2), PATIENCE);
  await queueOf(kind, 60).add(kind, { of: "another process" });
  await vi.waitFor(() => expect(seen).toHaveLength(3), PATIENCE);
});

test("waiting jobs run one after another, however seldom their process looks", async () => {
  const seen: object[] = [];
  const kind = kindOf(async ({ data }) => void seen.push(data));
  const queue = queueOf(kind, 60);
  for (const of of ["a", "b", "c"]) await queue.add(kind, { of });
  queue.work();
  await vi.waitFor(() => expect(seen).toHaveLength(3), PATIENCE);
});

test("of a kind with one job per key, a second one is not queued while the first waits or runs", async () => {
  const { jobs, run, end } = held();
  const kind = kindOf(run, { name: "keyed", isOnePerKey: true, maxAtOnce: 2 });
  const queue = queueOf(kind);
  expect(await queue.add(kind, { of: "a" }, { key: "a" })).not.toBe(null);
  expect(await queue.add(kind, { of: "a" }, { key: "a" })).toBe(null);
  expect(await queue.add(kind, { of: "b" }, { key: "b" })).not.toBe(null);
  queue.work();
  await vi.waitFor(() => expect(jobs).toHaveLength(2), PATIENCE);
  expect(await queue.add(kind, { of: "a" }, { key: "a" })).toBe(null);
  end();
  await vi.waitFor(async () => expect(await queue.add(kind, { of: "a" }, { key: "a" })).not.toBe(null), PATIENCE);
});
