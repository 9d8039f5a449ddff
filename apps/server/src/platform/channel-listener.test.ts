import pg from "pg";
import { expect, test, vi } from "vitest";
import { ChannelListener } from "./channel-listener.ts";
import { type Clock, systemClock } from "./clock.ts";
import { silentLog } from "./log.ts";
import { createTestDatabase } from "./postgres/postgres-test-database.ts";
import { until } from "./retry.ts";

const NOWHERE = { host: "127.0.0.1", port: 1 };
const handler = { message() {}, reconnected() {} };

test("while the database is away one connection at a time is tried, and one is left when it is back", async () => {
  const rows = await createTestDatabase("template0");
  let tried = 0;
  let isAway = false;
  let reconnected = 0;
  const connect = () => {
    tried += 1;
    return new pg.Client(isAway ? NOWHERE : rows.address);
  };
  // Waits are short, so that there are many.
  let waits = 0;
  const hasty: Clock = {
    ...systemClock,
    after(ms, action) {
      waits += 1;
      return systemClock.after(Math.min(ms, 5), () => {
        waits -= 1;
        action();
      });
    },
  };
  const listener = new ChannelListener(connect, hasty, silentLog);
  const other = new pg.Client(rows.address);
  await other.connect();
  try {
    await listener.listen("here", { message() {}, reconnected: () => reconnected++ });
    isAway = true;
    await other.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'",
    );
    await expect(until(systemClock, 5_000, () => tried >= 10)).resolves.toBe(true);
    isAway = false;
    await expect(until(systemClock, 5_000, () => reconnected > 0)).resolves.toBe(true);
    const { rows: left } = await other.query(
      "select 1 from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()",
    );
    // No further attempt is waited for.
    expect({ reconnected, waits, left: left.length }).toEqual({ reconnected: 1, waits: 0, left: 1 });
  } finally {
    await listener.close();
    await other.end();
    await rows.drop();
  }
});

test("subscriptions and listener are closed at once while the database is away", async () => {
  const rows = await createTestDatabase("template0");
  let isAway = false;
  let tried = 0;
  const connect = () => {
    tried += 1;
    return new pg.Client(isAway ? NOWHERE : rows.address);
  };
  const hasty: Clock = { ...systemClock, after: (ms, action) => systemClock.after(Math.min(ms, 20), action) };
  const listener = new ChannelListener(connect, hasty, silentLog);
  const subscription = await listener.listen("here", handler);
  isAway = true;
  await rows.cutOff();
  await expect(until(systemClock, 5_000, () => tried > 1)).resolves.toBe(true);
  await subscription.close();
  await listener.close();
  await rows.drop();
});

test("subscriptions that begin and end at once ask one after the other, as pg wants", async () => {
  const rows = await createTestDatabase("template0");
  const client = new pg.Client(rows.address);
  const inFlight = { now: 0, most: 0, asked: 0 };
  const query = client.query.bind(client) as (text: string) => Promise<unknown>;
  vi.spyOn(client, "query").mockImplementation(async (text: string) => {
    inFlight.asked++;
    inFlight.most = Math.max(inFlight.most, ++inFlight.now);
    return query(text).finally(() => inFlight.now--);
  });
  const listener = new ChannelListener(() => client, systemClock, silentLog);
  try {
    const begun = await Promise.all(["a", "b", "c"].map((channel) => listener.listen(channel, handler)));
    await Promise.all(begun.map((subscription) => subscription.close()));
    expect(inFlight.asked).toBeGreaterThanOrEqual(6);
    expect(inFlight.most).toBe(1);
  } finally {
    await listener.close();
    await rows.drop();
  }
});

test("listening that failed can be tried again", async () => {
  const rows = await createTestDatabase("template0");
  const addresses = [NOWHERE, rows.address];
  const listener = new ChannelListener(() => new pg.Client(addresses.shift()), systemClock, silentLog);
  try {
    await expect(listener.listen("here", handler)).rejects.toThrow("ECONNREFUSED");
    await expect(listener.listen("here", handler)).resolves.toBeDefined();
  } finally {
    await listener.close();
    await rows.drop();
  }
});
