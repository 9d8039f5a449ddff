import type { ApiToken, CreatedApiToken, Project, Stream } from "@weir/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { ensureAccount } from "./account-store.ts";

type Headers = Record<string, string>;

let kit: TestDomains;
/** Signed in with the key of the first start. */
let first: Headers;
let projectB: string;
let streamOfB: Stream;

beforeAll(async () => {
  kit = await startTestDomains();
  first = await signIn(kit.apiKey);
  projectB = (await kit.call("POST", "/api/project", { name: "b" }, first)).json<Project>().id;
  streamOfB = (await kit.call("POST", `/api/stream?projectId=${projectB}`, { name: "of b" }, first)).json();
});

afterAll(() => kit[Symbol.asyncDispose]());

const attempt = (apiKey: string) => kit.call("POST", "/api/dashboard/sign-in", { apiKey }, {});

async function signIn(apiKey: string): Promise<Headers> {
  const answer = await attempt(apiKey);
  expect(answer.statusCode).toBe(204);
  return { cookie: String(answer.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
}

async function makeKey(body: object = {}): Promise<CreatedApiToken> {
  const answer = await kit.call("POST", "/api/api-token", body, first);
  expect(answer.statusCode).toBe(201);
  return answer.json();
}

const status = async (...request: Parameters<typeof kit.call>) => (await kit.call(...request)).statusCode;

describe("a key that signs in", () => {
  it("stays in its project: other projects are not there, with or without their id", async () => {
    const cookie = await signIn((await makeKey()).key);
    const { id } = (await kit.call("POST", "/api/stream", { name: "of a" }, cookie)).json<Stream>();
    expect(
      (await kit.call("GET", "/api/stream", undefined, cookie)).json<Stream[]>().map((found) => found.id),
    ).toContain(id);
    expect(await status("GET", `/api/stream?projectId=${projectB}`, undefined, cookie)).toBe(404);
    expect(await status("POST", `/api/stream?projectId=${projectB}`, { name: "x" }, cookie)).toBe(404);
    expect(await status("POST", `/api/api-token?projectId=${projectB}`, {}, cookie)).toBe(404);
    expect(await status("GET", `/api/stream/${streamOfB.id}`, undefined, cookie)).toBe(404);
    expect(await status("GET", `/api/project/${projectB}`, undefined, cookie)).toBe(404);
    const projects = (await kit.call("GET", "/api/project", undefined, cookie)).json<Project[]>();
    expect(projects.map((project) => project.name)).toEqual(["default"]);
    expect((await kit.call("GET", "/api/dashboard/session", undefined, cookie)).json()).toMatchObject({
      reach: "project",
    });
  });

  it("makes neither people nor projects, which would reach further than it does", async () => {
    const cookie = await signIn((await makeKey()).key);
    const { id } = (await kit.call("GET", "/api/project", undefined, cookie)).json<Project[]>()[0] ?? { id: "" };
    const refused = {
      "POST /api/person": { name: "mallory", password: "a long password" },
      "GET /api/person": undefined,
      "POST /api/project": { name: "mine" },
      [`PATCH /api/project/${id}`]: { name: "mine" },
      [`DELETE /api/project/${projectB}`]: undefined,
    };
    for (const [request, body] of Object.entries(refused)) {
      const [method = "", url = ""] = request.split(" ");
      const answer = await kit.call(method as "GET", url, body, cookie);
      expect([request, answer.statusCode, answer.body]).toEqual([request, 403, expect.stringContaining("own project")]);
    }
  });

  it("manages keys of its project, but not the one that rules the account", async () => {
    const cookie = await signIn((await makeKey()).key);
    const keys = (await kit.call("GET", "/api/api-token", undefined, cookie)).json<ApiToken[]>();
    const ruling = keys.filter(({ accountWide }) => accountWide);
    expect(ruling.map(({ name }) => name)).toEqual(["first key"]);
    expect(await status("DELETE", `/api/api-token/${ruling[0]?.id}`, undefined, cookie)).toBe(403);
    const made = (await kit.call("POST", "/api/api-token", {}, cookie)).json<CreatedApiToken>();
    expect(made.accountWide).toBeUndefined();
    expect(await status("DELETE", `/api/api-token/${made.id}`, undefined, cookie)).toBe(204);
  });

  it.each([
    ["rules that allow reading everything", { rules: [{ resources: ["*"], methods: ["get"] }] }],
    ["rules that allow everything", { rules: [{ resources: ["*"], methods: ["*"] }] }],
    ["an origin", { cors: { allowedOrigins: ["https://app.test"] } }],
    ["every origin and full access", { cors: { allowedOrigins: ["*"], fullAccess: true } }],
  ])("is refused when it has %s", async (_, access) => {
    const { key } = await makeKey({ access });
    const answer = await attempt(key);
    expect([answer.statusCode, answer.headers["set-cookie"]]).toEqual([403, undefined]);
  });
});

describe("the key of the first start, and that of WEIR_API_KEY", () => {
  it("rule the account where they signed in, and their project alone without", async () => {
    await ensureAccount(kit.db, { presetKey: "a-preset-key", newKey: () => "", now: kit.clock.now() });
    for (const apiKey of [kit.apiKey, "a-preset-key"]) {
      const cookie = await signIn(apiKey);
      const streams = await kit.call("GET", `/api/stream?projectId=${projectB}`, undefined, cookie);
      expect(streams.json<Stream[]>().map(({ id }) => id)).toEqual([streamOfB.id]);
      expect(await status("GET", "/api/person", undefined, cookie)).toBe(200);
      const bearer = { authorization: `Bearer ${apiKey}` };
      expect(await status("GET", `/api/stream?projectId=${projectB}`, undefined, bearer)).toBe(400);
      expect(await status("GET", `/api/project/${projectB}`, undefined, bearer)).toBe(404);
    }
  });

  it("a key with rules that is preset as well keeps to its rules", async () => {
    const { key } = await makeKey({ access: { rules: [] } });
    await ensureAccount(kit.db, { presetKey: key, newKey: () => "", now: kit.clock.now() });
    expect((await attempt(key)).statusCode).toBe(403);
    expect(await status("GET", "/api/stream", undefined, { authorization: key })).toBe(403);
  });

  it("a key that exists already rules the account once it is preset", async () => {
    const { key } = await makeKey();
    await ensureAccount(kit.db, { presetKey: key, newKey: () => "", now: kit.clock.now() });
    const cookie = await signIn(key);
    expect(await status("GET", `/api/stream?projectId=${projectB}`, undefined, cookie)).toBe(200);
  });
});
