import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addProject, startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { claimQueues, forgetOldDeliveries } from "./delivery-store.ts";
import { forgetOldCalls } from "./webhook-log-store.ts";

const NOW = 1_700_000_000_000;
const STREAM = "00000000-0000-4000-8000-000000000009";

let kit: TestDomains;
beforeAll(async () => {
  kit = await startTestDomains();
});
afterAll(() => kit[Symbol.asyncDispose]());

it("a place that becomes free goes to the webhook with the fewest in work, and then to the one that has waited longest", async () => {
  const [busiest, idle, waiting] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [
    string,
    string,
    string,
  ];
  await sql`insert into webhook_queue (webhook_id, subject_kind, subject_id, lane, due_at)
    select w, 'stream', ${STREAM}, n, ${NOW}::bigint - case when w = ${waiting} then 10 else n end
    from unnest(${[busiest, idle, waiting]}::uuid[]) w, generate_series(1, 3) n`.execute(kit.db);
  const claim = async (limit: number, busy: [string, number][]) => {
    const asked = { nodeId: STREAM, now: NOW, limit, limitOfOne: 2, limitOfProject: 9, busy: new Map(busy) };
    return (await claimQueues(kit.db, asked)).map(({ webhookId }) => webhookId);
  };
  expect(await claim(1, [[busiest, 1]])).toEqual([waiting]);
  expect(
    await claim(1, [
      [busiest, 1],
      [waiting, 1],
    ]),
  ).toEqual([idle]);
  const all = [
    [busiest, 2],
    [waiting, 1],
    [idle, 1],
  ] satisfies [string, number][];
  expect((await claim(9, all)).sort()).toEqual([idle, waiting]);
});

it("a project whose webhooks all hang takes no more than its share, and leaves the rest to another", async () => {
  await sql`delete from webhook_queue`.execute(kit.db);
  const [hanging, other] = await Promise.all([webhooksOf("hanging", 4), webhooksOf("other", 1)]);
  await sql`insert into webhook_queue (webhook_id, subject_kind, subject_id, lane, due_at)
    select w, 'stream', ${STREAM}, n, ${NOW}::bigint - n from unnest(${[...hanging, ...other]}::uuid[]) w, generate_series(1, 9) n`.execute(
    kit.db,
  );
  const claim = async (busy: [string, number][]) => {
    const limits = { limit: 40, limitOfOne: 4, limitOfProject: 10 };
    const claimed = await claimQueues(kit.db, { nodeId: STREAM, now: NOW, ...limits, busy: new Map(busy) });
    const isHanging = ({ webhookId }: { webhookId: string }) => hanging.includes(webhookId);
    return [claimed.filter(isHanging).length, claimed.filter((key) => !isHanging(key)).length];
  };
  expect(await claim([[hanging[0] ?? "", 3]])).toEqual([7, 4]);
  await sql`update webhook_queue set claimed_until = 0`.execute(kit.db);
  const full = hanging.map((id, n): [string, number] => [id, n < 2 ? 3 : 2]);
  expect(await claim(full)).toEqual([0, 4]);
});

/** Ids of webhooks of a project of their own. */
async function webhooksOf(name: string, count: number): Promise<string[]> {
  const { apiKey } = await addProject(kit.db, name);
  const made = Array.from({ length: count }, async (_, n) => {
    const webhook = { name: `${name} ${n}`, url: "http://127.0.0.1:8000/", events: ["stream.started"] };
    const answer = await kit.call("POST", "/api/webhook", webhook, { authorization: `Bearer ${apiKey}` });
    return (answer.json() as { id: string }).id;
  });
  return Promise.all(made);
}

it.each(["webhook_delivery", "webhook_log"])("much that is old in %s is deleted in small steps", async (table) => {
  await sql`create or replace function refuse_large() returns trigger language plpgsql as
    $$ begin if (select count(*) from gone) > 10000 then raise 'too many at once'; end if; return null; end $$`.execute(
    kit.db,
  );
  await sql`create trigger refuse_large after delete on ${sql.table(table)} referencing old table as gone
    for each statement execute function refuse_large()`.execute(kit.db);
  await (table === "webhook_log"
    ? sql`insert into webhook_log (id, webhook_id, project_id, event, created_at, duration_ms, attempt, success, url, headers, body)
      select gen_random_uuid(), ${STREAM}, ${STREAM}, '', n, 1, 1, true, '', '{}', '' from generate_series(1, 10500) n`
    : sql`insert into webhook_delivery (webhook_id, subject_kind, subject_id, seq, event_at, event, created_at)
      select ${STREAM}, 'stream', ${STREAM}, n, 0, '', n from generate_series(1, 10500) n`
  ).execute(kit.db);
  await forgetOldDeliveries(kit.db, NOW);
  await forgetOldCalls(kit.db, NOW);
  expect((await sql`select from ${sql.table(table)}`.execute(kit.db)).rows).toEqual([]);
});
