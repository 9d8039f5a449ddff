import { setImmediate } from "node:timers/promises";
import { type KyselyPlugin, sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { MIGRATION_LOCK } from "../../platform/migrate.ts";
import type { HeldSession } from "../../ports/index.ts";
import { startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { newId } from "../ids.ts";
import { NodeMembership } from "./node-membership.ts";
import { mayContract } from "./node-store.ts";

let kit: TestDomains;
beforeAll(async () => {
  kit = await startTestDomains();
});
afterAll(() => kit[Symbol.asyncDispose]());

class CountingClock extends ManualClock {
  timers = 0;

  override after(ms: number, action: () => void) {
    this.timers++;
    return super.after(ms, action);
  }

  override every(ms: number, action: () => void) {
    this.timers++;
    return super.every(ms, action);
  }
}

/** A node whose statements are counted, refused while the database is away, or of which the next one is answered late. */
async function joined(name: string, schemaLevel: number | null = null) {
  const line = { statements: 0, isAway: false, nextAnswer: null as Promise<void> | null };
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      line.statements++;
      if (line.isAway) throw new Error("the database is away");
      return node;
    },
    async transformResult({ result }) {
      const late = line.nextAnswer;
      line.nextAnswer = null;
      await late;
      return result;
    },
  };
  const clock = new CountingClock();
  const deps = { db: kit.db.withPlugin(counting), clock, log: silentLog, settleFacts: async () => {} };
  const settings = { name, region: "local", roles: ["media"], build: "1.0.0", schemaLevel, place: `folder of ${name}` };
  const node = new NodeMembership(deps, settings);
  await node.join(async () => {});
  return { node, clock, line };
}

const rowOf = (name: string) =>
  kit.db.selectFrom("node").select(["state", "start_id"]).where("name", "=", name).executeTakeFirstOrThrow();

test.each([0, 200])("a heartbeat is one statement and sets no timer, with %i streams held", async (count) => {
  const { node, clock, line } = await joined(`steady ${count}`);
  const held = Array.from({ length: count }, (): HeldSession => {
    return { streamId: newId(), sessionId: newId(), epoch: 1, isLive: true };
  });
  node.hold({ held: () => held, settle: () => {} });
  const before = { statements: line.statements, timers: clock.timers };
  for (let beat = 0; beat < 50; beat++) await node.heartbeat();
  expect(line.statements - before.statements).toBe(50);
  expect(clock.timers - before.timers).toBe(0);
  node.close();
});

test("while the database is away a node asks no more often in the end than in the beginning", async () => {
  const { node, clock, line } = await joined("alone");
  line.isAway = true;
  const askedIn = async (ms: number) => {
    const before = line.statements;
    // Not in step with the heartbeats, as failures take a time of their own.
    for (let passed = 0; passed < ms; passed += 130) {
      clock.advance(130);
      await setImmediate();
    }
    return line.statements - before;
  };
  const first = await askedIn(60_000);
  await askedIn(300_000);
  const last = await askedIn(60_000);
  expect(first).toBeGreaterThan(60);
  expect(first).toBeLessThan(60 * 3);
  expect(last).toBeLessThan(first * 1.1);
  line.isAway = false;
  clock.advance(2_000);
  await expect.poll(() => node.isSteady).toBe(true);
  node.close();
  const closed = line.statements;
  clock.advance(10_000);
  await setImmediate();
  expect(line.statements).toBe(closed);
});

test("a node that leaves while a heartbeat finds it gone does not rejoin, and is not waited for", async () => {
  const { node, line } = await joined("leaving");
  await kit.db.updateTable("node").set({ state: "gone" }).where("name", "=", "leaving").execute();
  const { promise, resolve } = Promise.withResolvers<void>();
  line.nextAnswer = promise;
  const beat = node.heartbeat();
  await expect.poll(() => line.nextAnswer === null).toBe(true);
  const left = node.leave(async () => {});
  // Long enough to leave, for one that does not wait for its heartbeat.
  for (let asked = 0; asked < 20; asked++) await rowOf("leaving");
  resolve();
  await Promise.all([beat, left]);
  expect(await rowOf("leaving")).toEqual({ state: "gone", start_id: null });
});

test("what older builds use is taken away when none of them runs, and one that begins after that is refused", async () => {
  const can = (number: number) => kit.db.transaction().execute((trx) => mayContract(trx, number));
  await kit.db.updateTable("node").set({ state: "gone" }).execute();
  const { node: older } = await joined("older", 1_002);
  const { node: newer } = await joined("newer", 1_003);
  expect([await can(1_002), await can(1_003)]).toEqual([true, false]);
  await older.leave(async () => {});
  expect([await can(1_003), await can(1_004)]).toEqual([true, false]);
  await newer.leave(async () => {});
  for (const kind of ["expand", "contract"]) {
    await sql`insert into migration (number, name, digest, kind) values (9999, '9999-less', '', ${kind})`.execute(
      kit.db,
    );
    if (kind === "expand") await joined("beside", 9_998);
    else await expect(joined("late", 9_998)).rejects.toThrow("written by a newer Weir (schema 9999-less");
    await sql`delete from migration where number = 9999`.execute(kit.db);
  }
});

test("a node that joins while a migration runs waits for it, and holds nothing meanwhile that the migration needs", async () => {
  const { node } = await joined("beside a migration", 1_000_000);
  await node.leave(async () => {});
  const waiting = async () => {
    const { rows } = await sql`select from pg_locks where locktype = 'advisory' and not granted`.execute(kit.db);
    return rows.length;
  };
  const joining = await kit.db.transaction().execute(async (migration) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(migration);
    const again = joined("beside a migration", 1_000_000);
    await expect.poll(waiting).toBe(1);
    await sql`lock table node`.execute(migration);
    return { again };
  });
  await joining.again;
  expect((await rowOf("beside a migration")).state).toBe("serving");
});
