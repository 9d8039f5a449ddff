import pg from "pg";
import { expect, test } from "vitest";
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
