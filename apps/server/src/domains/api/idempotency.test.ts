import type { Stream } from "@weir/contract";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addProject, startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { forgetOldAnswers } from "./idempotency.ts";

let kit: TestDomains;
beforeAll(async () => {
  kit = await startTestDomains();
});
afterAll(() => kit[Symbol.asyncDispose]());

const post = (key: string, body: object, url = "/api/stream", apiKey = kit.apiKey) =>
  kit.call("POST", url, body, { authorization: apiKey, "idempotency-key": key });
const named = async (name: string): Promise<Stream[]> =>
  (await kit.call("GET", "/api/stream?limit=1000")).json<Stream[]>().filter((stream) => stream.name === name);

describe("a POST with an Idempotency-Key", () => {
  it("has one effect and the same answer, however often it comes within 24 h", async () => {
    const first = await post("one", { name: "once" });
    kit.clock.stepWall(86_400_000);
    const second = await post("one", { name: "once" });
    expect([first.statusCode, second.statusCode, second.body]).toEqual([201, 201, first.body]);
    expect([first.headers["idempotent-replayed"], second.headers["idempotent-replayed"]]).toEqual([undefined, "true"]);
    expect(await named("once")).toHaveLength(1);
    kit.clock.stepWall(1);
    expect((await post("one", { name: "once" })).headers["idempotent-replayed"]).toBeUndefined();
    expect(await named("once")).toHaveLength(2);
  });

  it("with another body, or to another address, is 422", async () => {
    const { id } = (await post("two", { name: "a" })).json<Stream>();
    expect((await post("two", { name: "b" })).statusCode).toBe(422);
    expect((await post("two", { name: "a" }, `/api/stream/${id}/test-broadcast`)).statusCode).toBe(422);
    expect(await named("b")).toEqual([]);
  });

  it("ten at once have one effect; who is not first is answered the same or asked to come again", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => post("three", { name: "rushed" })));
    expect(await named("rushed")).toHaveLength(1);
    const [made, ...others] = new Set(answers.flatMap((one) => (one.statusCode === 201 ? [one.body] : [])));
    expect([typeof made, others]).toEqual(["string", []]);
    for (const { statusCode, headers } of answers)
      if (statusCode !== 201) expect([statusCode, headers["retry-after"]]).toEqual([409, "1"]);
    expect((await post("three", { name: "rushed" })).body).toBe(made);
  });

  it("that did not succeed may be tried again", async () => {
    const target = { profile: "source", id: "nope" };
    expect((await post("four", { name: "c", multistream: { targets: [target] } })).statusCode).toBe(400);
    expect((await post("four", { name: "c" })).statusCode).toBe(201);
  });

  it("whose process died is done by the next that comes a minute later", async () => {
    await post("five", { name: "died" });
    await sql`update idempotent_request set status = null, body = null where key = 'five'`.execute(kit.db);
    expect((await post("five", { name: "died" })).statusCode).toBe(409);
    kit.clock.stepWall(60_001);
    expect((await post("five", { name: "died" })).statusCode).toBe(201);
  });

  it("is another's when another API key sends it", async () => {
    const other = await addProject(kit.db, "idempotent");
    const mine = (await post("six", { name: "d" })).json<Stream>();
    const theirs = (await post("six", { name: "d" }, "/api/stream", other.apiKey)).json<Stream>();
    expect(theirs.projectId).not.toBe(mine.projectId);
  });

  it("that has no answer to repeat is repeated all the same", async () => {
    const { id } = (await post("seven", { name: "e" })).json<Stream>();
    const send = () => post("eight", {}, `/api/stream/${id}/test-broadcast`);
    expect([(await send()).statusCode, (await send()).statusCode]).toEqual([204, 204]);
    expect(kit.asked.broadcasts).toHaveLength(1);
  });

  it("that made an API key is not answered a second time, and the key is stored nowhere", async () => {
    const signIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
    const cookie = String(signIn.headers["set-cookie"]).split(";")[0] ?? "";
    const headers = { cookie, "x-weir-request": "1", "idempotency-key": "nine" };
    const { key } = (await kit.call("POST", "/api/api-token", {}, headers)).json();
    expect((await kit.call("POST", "/api/api-token", {}, headers)).statusCode).toBe(409);
    const rows = await kit.db.selectFrom("idempotent_request").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  it.each(["a b", "x".repeat(256), ""])("that is no key is 400: %j", async (key) =>
    expect((await post(key, { name: "f" })).statusCode).toBe(400),
  );
});

it("old answers are forgotten, and of a key's answers the newest 10,000 stay", async () => {
  await sql`insert into idempotent_request (api_key_id, project_id, user_id, key, fingerprint, created_at)
    select id, project_id, user_id, 'bulk-' || n, '\\x00', ${kit.clock.now()}::bigint + n
    from (select * from api_key where name = 'first key') k, generate_series(1, 10005) n`.execute(kit.db);
  await forgetOldAnswers(kit.db, kit.clock.now());
  const keys = (
    await sql<{ key: string }>`select key from idempotent_request r join api_key k on k.id = r.api_key_id
    where k.name = 'first key' order by r.created_at`.execute(kit.db)
  ).rows;
  expect([keys.length, keys[0]?.key]).toEqual([10_000, "bulk-6"]);
  await forgetOldAnswers(kit.db, kit.clock.now() + 100_000_000);
  expect(await kit.db.selectFrom("idempotent_request").select("key").execute()).toEqual([]);
});
