import { sql } from "kysely";
import { expect, it } from "vitest";
import { startTestDomains } from "../domain-test-kit.ts";
import { EventPartitions } from "./event-partitions.ts";

const DAY_MS = 86_400_000;
const DAYS = [1_700_000_000_000, 1_700_000_000_000 + DAY_MS];

it("a process that does not look after the log writes into the days of one that does without waiting for anybody", async () => {
  await using kit = await startTestDomains();
  await kit.db.transaction().execute((trx) => new EventPartitions().ensure(trx, DAYS));
  const partitions = new EventPartitions();
  await kit.db.transaction().execute(async (maker) => {
    await sql`select pg_advisory_xact_lock(7301001)`.execute(maker);
    await expect(kit.db.transaction().execute((trx) => partitions.ensure(trx, DAYS))).resolves.toBeUndefined();
  });
});

it("a day that was dropped is made again for an event that comes late", async () => {
  await using kit = await startTestDomains();
  const partitions = new EventPartitions();
  const ensure = () => kit.db.transaction().execute((trx) => partitions.ensure(trx, DAYS));
  await ensure();
  await ensure();
  await partitions.maintain(kit.db, (DAYS[1] ?? 0) + 8 * DAY_MS);
  await ensure();
  const { rows } = await sql`select where to_regclass('event_telemetry_20231114') is not null`.execute(kit.db);
  expect(rows).toHaveLength(1);
});

it("a clock that jumps ahead drops no days at once, and those past their time go when it is right again", async () => {
  await using kit = await startTestDomains();
  const partitions = new EventPartitions();
  const today = Math.floor(kit.clock.now() / DAY_MS);
  const daysKept = async () => {
    const { rows } = await sql<{ day: string }>`
      select right(c.relname, 8) as day from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'event_telemetry'::regclass order by 1`.execute(kit.db);
    return rows.map(({ day }) => Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`) / DAY_MS - today);
  };
  for (let day = today - 12; day <= today; day++) await partitions.maintain(kit.db, day * DAY_MS);
  const usual = [-7, -6, -5, -4, -3, -2, -1, 0, 1];
  expect(await daysKept()).toEqual(usual);
  await partitions.maintain(kit.db, (today + 500) * DAY_MS);
  expect(await daysKept()).toEqual([...usual, 500, 501]);
  await partitions.maintain(kit.db, (today + 500) * DAY_MS);
  expect(await daysKept()).toEqual([...usual.slice(2), 500, 501]);
  await partitions.maintain(kit.db, (today + 1) * DAY_MS);
  expect(await daysKept()).toEqual([...usual.slice(2), 2, 500, 501]);
});
