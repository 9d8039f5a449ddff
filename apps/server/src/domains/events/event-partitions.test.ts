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
