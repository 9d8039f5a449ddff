import type { Access, CreatedApiToken, Stream } from "@weir/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addProject, startTestDomains, type TestDomains } from "../domain-test-kit.ts";

const EFFECTIVE = [{ variable: "WEIR_X", about: "a setting", value: "1", isDefault: true }];

let kit: TestDomains;
let dashboard: Record<string, string>;
beforeAll(async () => {
  kit = await startTestDomains({ effectiveSettings: EFFECTIVE });
  dashboard = await signIn(kit.apiKey);
});
afterAll(() => kit[Symbol.asyncDispose]());

async function signIn(apiKey: string): Promise<Record<string, string>> {
  const answer = await kit.call("POST", "/api/dashboard/sign-in", { apiKey }, {});
  expect(answer.statusCode).toBe(204);
  return { cookie: String(answer.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
}

async function makeKey(access?: Access, name = "made"): Promise<CreatedApiToken> {
  const answer = await kit.call("POST", "/api/api-token", { name, ...(access ? { access } : {}) }, dashboard);
  expect(answer.statusCode).toBe(201);
  return answer.json();
}

const as = (key: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...more });

describe("API keys", () => {
  it("a key is in the answer that makes it, works, and is in no other answer nor in the database", async () => {
    const { key, ...record } = await makeKey();
    expect(key).toMatch(/^weir_[\w-]{43}$/);
    expect(record).toMatchObject({ kind: "api-token", name: "made", keyPrefix: key.slice(0, 10) });
    expect((await kit.call("GET", "/api/stream", undefined, as(key))).statusCode).toBe(200);
    const shown = await kit.call("GET", `/api/api-token/${record.id}`, undefined, dashboard);
    expect(shown.json()).toEqual({ ...record, lastSeen: kit.clock.now() });
    const listed = await kit.call("GET", "/api/api-token?limit=1000", undefined, dashboard);
    expect(listed.json().map(({ id }: { id: string }) => id)).toContain(record.id);
    const rows = await kit.db.selectFrom("api_key").selectAll().execute();
    expect(JSON.stringify([listed.json(), rows])).not.toContain(key);
  });

  it("a deleted key is refused, and so is the dashboard that it signed in", async () => {
    const { key, id } = await makeKey();
    const itsDashboard = await signIn(key);
    expect((await kit.call("DELETE", `/api/api-token/${id}`, undefined, dashboard)).statusCode).toBe(204);
    expect((await kit.call("GET", "/api/stream", undefined, as(key))).statusCode).toBe(401);
    expect((await kit.call("GET", "/api/stream", undefined, itsDashboard)).statusCode).toBe(401);
    expect((await kit.call("DELETE", `/api/api-token/${id}`, undefined, dashboard)).statusCode).toBe(404);
  });

  it("the key that one is signed in with cannot be deleted", async () => {
    const { key, id } = await makeKey();
    const answer = await kit.call("DELETE", `/api/api-token/${id}`, undefined, await signIn(key));
    expect([answer.statusCode, answer.json().errors[0]]).toEqual([409, expect.stringContaining("signed in with")]);
  });

  it("keys are not managed with keys", async () => {
    const answer = await kit.call("POST", "/api/api-token", { name: "more" });
    expect([answer.statusCode, answer.json()]).toMatchObject([403, { errors: ["access forbidden for API keys"] }]);
  });

  it("bad rules are 422, and an access of another shape too", async () => {
    const bad = await kit.call(
      "POST",
      "/api/api-token",
      { access: { rules: [{ resources: ["a//b"], methods: ["get"] }] } },
      dashboard,
    );
    expect([bad.statusCode, bad.json().errors[0]]).toEqual([422, expect.stringMatching(/^Bad access rules: /)]);
    const odd = await kit.call(
      "POST",
      "/api/api-token",
      { access: { rules: [{ resources: ["a"], methods: ["fetch"] }] } },
      dashboard,
    );
    expect(odd.statusCode).toBe(422);
  });

  it("the last use is written once a minute, whatever comes at once", async () => {
    const { key, id } = await makeKey();
    const version = async () =>
      (await kit.db.selectFrom("api_key").select("last_used_at").where("id", "=", id).executeTakeFirstOrThrow())
        .last_used_at;
    const use = () => kit.call("GET", "/api/stream?limit=1", undefined, as(key));
    await Promise.all([use(), use(), use()]);
    const first = await version();
    expect(Number(first)).toBe(kit.clock.now());
    kit.clock.advance(60_000);
    await use();
    expect(await version()).toBe(first);
    kit.clock.advance(1);
    await use();
    expect(Number(await version())).toBe(kit.clock.now());
  });
});

describe("rules", () => {
  it("a key for one stream reads that and nothing else, however the address is written", async () => {
    const stream = (await kit.call("POST", "/api/stream", { name: "mine" })).json<Stream>();
    const other = (await kit.call("POST", "/api/stream", { name: "other" })).json<Stream>();
    const { key } = await makeKey({ rules: [{ resources: [`stream/${stream.id}`], methods: ["get"] }] });
    const status = async (method: "GET" | "PATCH", url: string) =>
      (await kit.call(method, url, method === "GET" ? undefined : {}, as(key))).statusCode;
    expect(await status("GET", `/api/stream/${stream.id}`)).toBe(200);
    expect(await status("GET", `/api/%73tream/${stream.id}`)).toBe(200);
    expect(await status("PATCH", `/api/stream/${stream.id}`)).toBe(403);
    for (const url of [
      `/api/stream/${other.id}`,
      `/api/%73tream/${other.id}`,
      "/api/stream",
      `/api/stream/${stream.id}/sessions`,
    ])
      expect([url, await status("GET", url)]).toEqual([url, 403]);
  });

  it("an empty list of rules allows nothing", async () => {
    const { key } = await makeKey({ rules: [] });
    const answer = await kit.call("GET", "/api/stream", undefined, as(key));
    expect([answer.statusCode, answer.json()]).toMatchObject([
      403,
      { errors: ["credential has insufficent privileges"] },
    ]);
  });
});

describe("pages", () => {
  const list = (key: string, origin: string) => kit.call("GET", "/api/stream?limit=1", undefined, as(key, { origin }));

  it("a page may use a key that names its origin, and reads the answer", async () => {
    const { key } = await makeKey({ cors: { allowedOrigins: ["https://app.test"], fullAccess: true } });
    const answer = await list(key, "https://app.test");
    expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([200, "https://app.test"]);
    expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    for (const origin of ["https://evil.test", "https://app.test.evil", "null"]) {
      const refused = await list(key, origin);
      expect([refused.statusCode, refused.json()]).toMatchObject([
        403,
        { errors: [`credential disallows CORS access from origin ${origin}`] },
      ]);
      // It has the key, and reads why it may not use it.
      expect(refused.headers["access-control-allow-origin"]).toBe(origin);
    }
  });

  it("a key without origins is for our own pages and for programs", async () => {
    expect((await list(kit.apiKey, "https://app.test")).statusCode).toBe(403);
    expect((await list(kit.apiKey, "http://weir.test")).statusCode).toBe(200);
    const byHost = { origin: "http://10.0.0.5:8080", host: "10.0.0.5:8080" };
    expect((await kit.call("GET", "/api/stream", undefined, as(kit.apiKey, byHost))).statusCode).toBe(200);
  });

  it("the cookie is of no use to another page", async () => {
    const answer = await kit.call("GET", "/api/stream", undefined, { ...dashboard, origin: "https://evil.test" });
    expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
  });

  it("a key that stands in a page does not sign in at the dashboard", async () => {
    const { key } = await makeKey({ cors: { allowedOrigins: ["*"] } });
    expect((await kit.call("POST", "/api/dashboard/sign-in", { apiKey: key }, {})).statusCode).toBe(403);
  });
});

describe("projects", () => {
  it("one is made, renamed, looked into, and deleted once it is empty", async () => {
    const made = (await kit.call("POST", "/api/project", { name: "second" }, dashboard)).json();
    expect(made).toEqual({
      id: expect.any(String),
      userId: expect.any(String),
      name: "second",
      originalsForKeysOnly: false,
      createdAt: kit.clock.now(),
    });
    expect((await kit.call("PATCH", `/api/project/${made.id}`, { name: "new" }, dashboard)).statusCode).toBe(204);
    const hidden = { originalsForKeysOnly: true };
    expect((await kit.call("PATCH", `/api/project/${made.id}`, hidden, dashboard)).statusCode).toBe(204);
    expect((await kit.call("GET", `/api/project/${made.id}`, undefined, dashboard)).json()).toMatchObject({
      name: "new",
      originalsForKeysOnly: true,
    });
    const within = `projectId=${made.id}`;
    const stream = (await kit.call("POST", `/api/stream?${within}`, { name: "inside" }, dashboard)).json<Stream>();
    expect(stream.projectId).toBe(made.id);
    expect((await kit.call("GET", `/api/stream/${stream.id}`)).statusCode).toBe(404);
    const { key } = (await kit.call("POST", `/api/api-token?${within}`, {}, dashboard)).json<CreatedApiToken>();
    expect((await kit.call("GET", `/api/stream/${stream.id}`, undefined, as(key))).statusCode).toBe(200);
    expect((await kit.call("DELETE", `/api/project/${made.id}`, undefined, dashboard)).statusCode).toBe(409);
    await kit.call("DELETE", `/api/stream/${stream.id}`, undefined, as(key));
    expect((await kit.call("DELETE", `/api/project/${made.id}`, undefined, dashboard)).statusCode).toBe(204);
    expect((await kit.call("GET", `/api/project/${made.id}`, undefined, dashboard)).statusCode).toBe(404);
    expect((await kit.call("GET", "/api/stream", undefined, as(key))).statusCode).toBe(401);
  });

  it("a key sees its own project, changes none, and looks into no other", async () => {
    await kit.call("POST", "/api/project", { name: "unseen" }, dashboard);
    const seen = (await kit.call("GET", "/api/project")).json<{ id: string }[]>();
    expect(seen).toHaveLength(1);
    expect((await kit.call("PATCH", `/api/project/${seen[0]?.id}`, {})).statusCode).toBe(403);
    const query = await kit.call("GET", `/api/stream?projectId=${seen[0]?.id}`);
    expect([query.statusCode, query.json()]).toMatchObject([
      400,
      { errors: ["projectId as query param not supported"] },
    ]);
  });

  it("the project that one is signed in to is not deleted, and another account's is not found", async () => {
    const own = (await kit.call("GET", "/api/project")).json<{ id: string }[]>()[0]?.id ?? "";
    expect((await kit.call("DELETE", `/api/project/${own}`, undefined, dashboard)).statusCode).toBe(409);
    const stranger = await signIn((await addProject(kit.db, "stranger-of-projects")).apiKey);
    for (const method of ["GET", "PATCH", "DELETE"] as const) {
      const answer = await kit.call(method, `/api/project/${own}`, method === "PATCH" ? {} : undefined, stranger);
      expect([method, answer.statusCode]).toEqual([method, 404]);
    }
    expect((await kit.call("GET", `/api/stream?projectId=${own}`, undefined, stranger)).statusCode).toBe(404);
  });
});

describe("the server's settings", () => {
  it("are told with version and nodes to who may do everything", async () => {
    for (const headers of [as(kit.apiKey), dashboard]) {
      const answer = await kit.call("GET", "/api/dashboard/settings", undefined, headers);
      expect(answer.json()).toMatchObject({
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        settings: EFFECTIVE,
        nodes: [{ name: "one", region: "local", state: "serving", isThis: true }],
      });
    }
  });

  it("are not told to a key with rules", async () => {
    const { key } = await makeKey({ rules: [{ resources: ["*"], methods: ["get"] }] });
    expect((await kit.call("GET", "/api/dashboard/settings", undefined, as(key))).statusCode).toBe(403);
  });

  it("the account tells who asks", async () => {
    expect((await kit.call("GET", "/api/user/me")).json()).toMatchObject({ kind: "user", name: "first account" });
  });
});

describe("limits", () => {
  it("wrong keys at the sign-in are slowed down after 60 in a minute, and none is counted for a right one", async () => {
    const attempt = async (apiKey: string) =>
      (await kit.call("POST", "/api/dashboard/sign-in", { apiKey }, {})).statusCode;
    kit.clock.advance(60_000);
    for (let i = 0; i < 7; i++) expect(await attempt(kit.apiKey)).toBe(204);
    const guesses: number[] = [];
    for (let i = 0; i < 80; i++) guesses.push(await attempt(`guess-${i}`));
    expect(guesses.filter((status) => status === 401).length).toBe(70);
    expect(guesses.slice(70)).toEqual(Array(10).fill(429));
    expect(await attempt(kit.apiKey)).toBe(204);
    kit.clock.advance(60_000);
  });

  it("a key has its requests a second, told in every answer; another key is not held up", async () => {
    await using limited = await startTestDomains({ rateLimit: 3 });
    const other = await addProject(limited.db, "unhurried");
    const get = (key: string) => limited.call("GET", "/api/stream", undefined, as(key));
    const first = await get(limited.apiKey);
    expect(first.headers).toMatchObject({ "ratelimit-policy": '"default";q=3;w=1', ratelimit: '"default";r=2;t=1' });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await get(limited.apiKey)).statusCode);
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await get(limited.apiKey);
    expect([refused.headers["retry-after"], refused.headers.ratelimit]).toEqual(["1", '"default";r=0;t=1']);
    expect((await get(other.apiKey)).statusCode).toBe(200);
    limited.clock.advance(1_000);
    expect((await get(limited.apiKey)).statusCode).toBe(200);
  });

  it("an address has its requests to routes that need no key, whether what it asks for exists or not", async () => {
    await using limited = await startTestDomains({}, { proxies: ["127.0.0.1"] });
    const get = (path: string, client: string) => limited.call("GET", path, undefined, { "x-forwarded-for": client });
    for (let i = 0; i < 2_000; i++) await get("/api/playback/-", "203.0.113.66");
    for (const path of ["/api/playback/unknown", "/api/openapi.json"]) {
      const refused = await get(path, "203.0.113.66");
      expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "10"]);
    }
    expect((await get("/api/openapi.json", "203.0.113.7")).statusCode).toBe(200);
    limited.clock.advance(10_000);
    expect((await get("/api/openapi.json", "203.0.113.66")).statusCode).toBe(200);
  });
});
