import type { CreatedApiToken, Person } from "@weir/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addProject, startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { Passwords } from "./password.ts";

const PASSWORD = "a horse, a battery";
type Headers = Record<string, string>;

class CountedPasswords extends Passwords {
  checks = 0;
  /** A hook that runs while the next password is checked. */
  meanwhile: () => Promise<unknown> = async () => {};
  override async isRight(password: string, hashed: string | null): Promise<boolean> {
    this.checks += 1;
    const isRight = await super.isRight(password, hashed);
    const { meanwhile } = this;
    this.meanwhile = async () => {};
    await meanwhile();
    return isRight;
  }
}

const passwords = new CountedPasswords({ ln: 4, r: 8, p: 1 });
let kit: TestDomains;
let byKey: Headers;
let ada: Person;
beforeAll(async () => {
  kit = await startTestDomains({}, { passwords });
});
afterAll(() => kit[Symbol.asyncDispose]());
beforeEach(async () => {
  kit.clock.advance(60_000);
  byKey = cookieOf(await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {}));
  await kit.db.deleteFrom("person").execute();
  ada = (await add("Ada@Example.com")).json();
});

const add = (name: string, password = PASSWORD, who = byKey) =>
  kit.call("POST", "/api/person", { name, password }, who);
const logIn = (name: string, password: string, headers: Headers = {}) =>
  kit.call("POST", "/api/dashboard/log-in", { name, password }, headers);
const session = (who: Headers) => kit.call("GET", "/api/dashboard/session", undefined, who);

function cookieOf(answer: { headers: Record<string, unknown>; statusCode: number }): Headers {
  expect(answer.statusCode).toBe(204);
  return { cookie: String(answer.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
}

const asAda = async (password = PASSWORD) => cookieOf(await logIn("ada@example.com", password));

describe("people", () => {
  it.each([
    ["changed", "PATCH", { password: "another horse, another battery" }],
    ["taken away with its person", "DELETE", undefined],
  ] as const)("do not sign in with a password that is %s while it is looked at", async (_what, method, body) => {
    passwords.meanwhile = async () =>
      expect((await kit.call(method, `/api/person/${ada.id}`, body, byKey)).statusCode).toBe(204);
    const answer = await logIn("ada@example.com", PASSWORD);
    expect([answer.statusCode, answer.headers["set-cookie"]]).toEqual([401, undefined]);
    const sessions = await kit.db.selectFrom("dashboard_session").select("person_id").execute();
    expect(sessions.filter(({ person_id }) => person_id === ada.id)).toEqual([]);
  });

  it("sign in by name in any case and may do what the account may, in its first project", async () => {
    const who = cookieOf(await logIn(" ADA@example.com", PASSWORD));
    const { projectId } = (await session(byKey)).json();
    expect((await session(who)).json()).toMatchObject({
      userId: ada.userId,
      projectId,
      personId: ada.id,
      keyName: "ada@example.com",
      keyPrefix: "",
    });
    const stream = await kit.call("POST", "/api/stream", { name: "hers" }, { ...who, "idempotency-key": "once" });
    expect([stream.statusCode, stream.json().createdByTokenName]).toEqual([201, "ada@example.com"]);
    expect((await kit.call("POST", "/api/api-token", {}, who)).statusCode).toBe(201);
    expect((await kit.call("GET", "/api/person", undefined, who)).json()).toEqual([
      { ...ada, lastSeen: kit.clock.now() },
    ]);
  });

  it("are added by who is signed in, with a name of their own and a password that is not the name", async () => {
    expect((await add("ada@EXAMPLE.com")).statusCode).toBe(409);
    for (const [name, password, status] of [
      ["bob", "short", 422],
      ["two words", PASSWORD, 422],
      ["bob", "the-one-and-only-Bob", 400],
      ["bob", "aaaaaaaaaaaa", 400],
      ["bob", "x".repeat(201), 422],
    ] as const)
      expect([name, password, (await add(name, password)).statusCode]).toEqual([name, password, status]);
    expect((await kit.call("POST", "/api/person", { name: "bob", password: PASSWORD })).statusCode).toBe(403);
  });

  it("see nobody of another account, whose name is taken all the same", async () => {
    const { apiKey } = await addProject(kit.db, `stranger-${ada.id}`);
    const stranger = cookieOf(await kit.call("POST", "/api/dashboard/sign-in", { apiKey }, {}));
    expect((await kit.call("GET", "/api/person", undefined, stranger)).json()).toEqual([]);
    const change = { password: "another long one" };
    expect((await kit.call("PATCH", `/api/person/${ada.id}`, change, stranger)).statusCode).toBe(404);
    expect((await kit.call("DELETE", `/api/person/${ada.id}`, undefined, stranger)).statusCode).toBe(404);
    expect((await add("ada@example.com", PASSWORD, stranger)).statusCode).toBe(409);
    await asAda();
  });

  it("who is removed is signed out at once, and nobody removes themselves", async () => {
    const who = await asAda();
    expect((await kit.call("DELETE", `/api/person/${ada.id}`, undefined, who)).statusCode).toBe(409);
    expect((await kit.call("DELETE", `/api/person/${ada.id}`, undefined, byKey)).statusCode).toBe(204);
    expect((await session(who)).statusCode).toBe(401);
    expect((await logIn("ada@example.com", PASSWORD)).statusCode).toBe(401);
  });

  it("no password, hash or cookie stands in an answer or, but for the hash, in the database", async () => {
    const who = await asAda();
    await kit.call(
      "POST",
      "/api/person",
      { name: "eve", password: "unlucky passphrase" },
      { ...who, "idempotency-key": "k" },
    );
    const rows = [
      await kit.db.selectFrom("person").selectAll().execute(),
      await kit.db.selectFrom("dashboard_session").selectAll().execute(),
      await kit.db.selectFrom("idempotent_request").selectAll().execute(),
    ];
    const listed = await kit.call("GET", "/api/person", undefined, who);
    const secrets = [PASSWORD, "unlucky passphrase", who.cookie?.split("=")[1] ?? ""];
    for (const secret of secrets) expect(JSON.stringify([rows, listed.json()])).not.toContain(secret);
    expect(listed.body).not.toContain("scrypt");
  });
});

describe("a password", () => {
  const change = (body: object, who: Headers, id = ada.id) => kit.call("PATCH", `/api/person/${id}`, body, who);

  it("is changed with the present one, which ends the other sign-ins", async () => {
    const [here, elsewhere] = [await asAda(), await asAda()];
    const body = { password: "another long one", currentPassword: PASSWORD };
    expect((await change({ ...body, currentPassword: "wrong" }, here)).statusCode).toBe(403);
    expect((await change({ password: "another long one" }, here)).statusCode).toBe(400);
    expect((await change(body, here)).statusCode).toBe(204);
    expect([(await session(here)).statusCode, (await session(elsewhere)).statusCode]).toEqual([200, 401]);
    expect((await logIn("ada@example.com", PASSWORD)).statusCode).toBe(401);
    await asAda("another long one");
  });

  it("of somebody else is set with an API key's sign-in alone, which ends all their sign-ins", async () => {
    const who = await asAda();
    const bob = (await add("bob")).json<Person>();
    const body = { password: "another long one", currentPassword: PASSWORD };
    expect((await change(body, who, bob.id)).statusCode).toBe(403);
    expect((await change({ password: "another long one" }, byKey)).statusCode).toBe(204);
    expect((await session(who)).statusCode).toBe(401);
    await asAda("another long one");
  });

  it("cannot be tried out in a browser that was left open", async () => {
    const who = await asAda();
    const guess = () => change({ password: "another long one", currentPassword: "guess" }, who);
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await guess()).statusCode);
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
  });
});

describe("a password that is guessed at", () => {
  it("unknown names and wrong passwords get one answer, at one price", async () => {
    const attempt = async (name: string) => {
      const before = passwords.checks;
      const { statusCode, headers, body } = await logIn(name, "not the password");
      const { date: _date, "x-request-id": requestId, ...told } = headers;
      return { statusCode, body: body.replace(String(requestId), ""), told, checks: passwords.checks - before };
    };
    const known = await attempt("ada@example.com");
    expect([known.statusCode, known.checks]).toEqual([401, 1]);
    expect(await attempt("nobody@example.com")).toEqual(known);
  });

  it("the sixth failed log-in of an address within a minute is 429, also with the right password and for another name", async () => {
    for (const name of ["ada@example.com", "bob", "carol", "dave", "eve"])
      expect((await logIn(name, "guess")).statusCode).toBe(401);
    expect((await logIn("ada@example.com", PASSWORD)).statusCode).toBe(429);
    expect((await logIn("frank", "guess")).statusCode).toBe(429);
    kit.clock.advance(60_000);
    await asAda();
  });

  it("the sixth failed log-in to a name is 429 from wherever it comes, and known and unknown names do not differ", async () => {
    await using proxied = await startTestDomains({}, { proxies: ["127.0.0.1"] });
    const from = (name: string, address: string) =>
      proxied.call("POST", "/api/dashboard/log-in", { name, password: "guess" }, { "x-forwarded-for": address });
    const own = { apiKey: proxied.apiKey };
    const who = cookieOf(await proxied.call("POST", "/api/dashboard/sign-in", own, {}));
    await proxied.call("POST", "/api/person", { name: "ada", password: PASSWORD }, who);
    for (const name of ["ada", "nobody"]) {
      const answers = [];
      for (let i = 0; i < 6; i++) answers.push((await from(name, `198.51.100.${i}`)).statusCode);
      expect([name, answers]).toEqual([name, [401, 401, 401, 401, 401, 429]]);
    }
  });

  it("a cookie that was planted before is not taken over, and the one before is forgotten", async () => {
    const planted = await logIn("ada@example.com", PASSWORD, { cookie: "weir_session=planted" });
    expect(cookieOf(planted).cookie).not.toContain("planted");
    expect((await session({ cookie: "weir_session=planted" })).statusCode).toBe(401);
    const first = await asAda();
    const second = cookieOf(await logIn("ada@example.com", PASSWORD, { cookie: first.cookie ?? "" }));
    expect([(await session(first)).statusCode, (await session(second)).statusCode]).toEqual([401, 200]);
  });

  it("the cookie is for this site alone, out of reach of scripts, and secure where the page is", async () => {
    expect(String((await logIn("ada@example.com", PASSWORD)).headers["set-cookie"])).toMatch(
      /^weir_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    await using secure = await startTestDomains({ publicUrl: () => "https://weir.test" });
    const answer = await secure.call("POST", "/api/dashboard/sign-in", { apiKey: secure.apiKey }, {});
    expect(String(answer.headers["set-cookie"])).toMatch(/; Secure/);
  });

  it("another site signs nobody in or out, and changes nothing by cookie", async () => {
    const who = await asAda();
    const evil = { ...who, origin: "https://evil.test" };
    expect((await logIn("ada@example.com", PASSWORD, { origin: "https://evil.test" })).statusCode).toBe(403);
    expect((await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, evil)).statusCode).toBe(403);
    expect((await kit.call("DELETE", "/api/dashboard/sign-in", undefined, evil)).statusCode).toBe(403);
    for (const [method, path] of [
      ["POST", "/api/stream"],
      ["POST", "/api/api-token"],
      ["POST", "/api/person"],
      ["PATCH", `/api/person/${ada.id}`],
      ["DELETE", `/api/person/${ada.id}`],
    ] as const) {
      const withoutHeader = { cookie: who.cookie ?? "" };
      expect([path, (await kit.call(method, path, {}, withoutHeader)).statusCode]).toEqual([path, 403]);
      expect([path, (await kit.call(method, path, {}, evil)).statusCode]).toEqual([path, 403]);
    }
    // A form of another site can send text, but no JSON.
    const form = { ...who, "content-type": "text/plain" };
    expect((await kit.call("POST", "/api/person", '{"name":"x"}', form)).statusCode).toBe(415);
    expect((await session(who)).statusCode).toBe(200);
  });

  it("a cookie ends after a week, and with its account", async () => {
    const who = await asAda();
    kit.clock.stepWall(7 * 86_400_000);
    expect((await session(who)).statusCode).toBe(401);
    const again = await asAda();
    await kit.db.updateTable("account").set({ suspended: true }).where("id", "=", ada.userId).execute();
    expect((await session(again)).statusCode).toBe(403);
    expect((await logIn("ada@example.com", PASSWORD)).statusCode).toBe(401);
    await kit.db.updateTable("account").set({ suspended: false }).where("id", "=", ada.userId).execute();
  });
});

describe("wrong API keys", () => {
  const get = (key: string, address: string, on: TestDomains) =>
    on.call("GET", "/api/stream?limit=1", undefined, { authorization: key, "x-forwarded-for": address });

  it("are looked up slowly after 60 a minute from one client; its right keys and those of others are let in", async () => {
    await using proxied = await startTestDomains({}, { proxies: ["127.0.0.1"] });
    const dashboard = cookieOf(await proxied.call("POST", "/api/dashboard/sign-in", { apiKey: proxied.apiKey }, {}));
    const fresh = (await proxied.call("POST", "/api/api-token", {}, dashboard)).json<CreatedApiToken>().key;
    expect((await get(proxied.apiKey, "198.51.100.1", proxied)).statusCode).toBe(200);
    for (let i = 0; i < 70; i++) expect((await get(`wrong-${i}`, "198.51.100.1", proxied)).statusCode).toBe(401);
    expect((await get("wrong", "198.51.100.1", proxied)).statusCode).toBe(429);
    expect((await get(fresh, "198.51.100.1", proxied)).statusCode).toBe(429);
    expect((await get(proxied.apiKey, "198.51.100.1", proxied)).statusCode).toBe(200);
    expect((await get("wrong", "198.51.100.2", proxied)).statusCode).toBe(401);
    proxied.clock.advance(1_000);
    expect((await get(fresh, "198.51.100.1", proxied)).statusCode).toBe(200);
  });

  it("of a whole IPv6 /64 are those of one client", async () => {
    await using proxied = await startTestDomains({}, { proxies: ["127.0.0.1"] });
    for (let i = 0; i < 70; i++) await get(`wrong-${i}`, `2001:db8:1:2::${i.toString(16)}`, proxied);
    expect((await get("wrong", "2001:db8:1:2:ffff::1", proxied)).statusCode).toBe(429);
    expect((await get("wrong", "2001:db8:1:3::1", proxied)).statusCode).toBe(401);
  });

  it("hold up no cookie that was just given out, and no sign-in with a right key after a second", async () => {
    await using proxied = await startTestDomains({}, { proxies: ["127.0.0.1"] });
    const at = { "x-forwarded-for": "198.51.100.1" };
    for (let i = 0; i < 60; i++) await get(`wrong-${i}`, "198.51.100.1", proxied);
    const signedIn = await proxied.call("POST", "/api/dashboard/sign-in", { apiKey: proxied.apiKey }, at);
    expect(signedIn.statusCode).toBe(204);
    for (let i = 0; i < 20; i++) await get(`wrong-${i}`, "198.51.100.1", proxied);
    expect((await proxied.call("GET", "/api/stream", undefined, { ...at, ...cookieOf(signedIn) })).statusCode).toBe(
      200,
    );
  });

  it("from an address that a stranger made up count for the stranger", async () => {
    for (let i = 0; i < 70; i++) await get(`wrong-${i}`, `198.51.100.${i}`, kit);
    expect((await get("wrong", "203.0.113.1", kit)).statusCode).toBe(429);
  });
});
