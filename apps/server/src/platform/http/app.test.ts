import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../clock.ts";
import { silentLog } from "../log.ts";
import { Readiness } from "../readiness.ts";
import { createApp } from "./app.ts";
import { addHealthRoutes } from "./health-routes.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

let app: FastifyInstance;

beforeEach(() => {
  app = createApp({ log: silentLog, openPrefixes: ["/open/"], ownOrigin: () => "https://weir.test" });
  const body = {
    type: "object",
    required: ["name"],
    additionalProperties: false,
    properties: { name: { type: "string" }, count: { type: "integer", default: 1 }, inner: { type: "object" } },
  };
  app.post("/thing", { schema: { body } }, async (request) => request.body);
  app.get("/open/thing", async () => ({}));
  app.get("/thing/:id", async () => ({}));
  app.get("/broken", async () => {
    throw new RangeError("the password is hunter2");
  });
  app.get("/refused", async () => {
    throw Object.assign(new Error("not today"), { statusCode: 409 });
  });
});

afterEach(() => app.close());

const post = (payload: string | object) =>
  app.inject({ method: "POST", url: "/thing", headers: { "content-type": "application/json" }, payload });

test("a body that fits passes as it came: no defaults, nothing removed", async () => {
  expect((await post({ name: "a" })).json()).toEqual({ name: "a" });
});

describe("a body that does not fit is 422 with the first error, as Ajv tells it", () => {
  test.each([
    ["missing property", {}, "required", "the body must have required property 'name'"],
    ["unknown property", { name: "a", extra: 1 }, "additionalProperties", 'the body has the unknown field "extra"'],
    ["number in a text's place", { name: 1 }, "type", "name must be string"],
    ["text in a number's place", { name: "a", count: "1" }, "type", "count must be integer"],
    ["no body", "", "type", "the body must be object"],
  ])("%s, and as a sentence", async (_situation, payload, keyword, sentence) => {
    const response = await post(payload);
    expect(response.statusCode).toBe(422);
    const { errors, message } = response.json<{ errors: string[]; message: string }>();
    expect(errors).toHaveLength(1);
    expect(message).toBe(sentence);
    expect(JSON.parse(errors[0] ?? "")).toMatchObject({ keyword, message: expect.any(String) });
  });
});

describe("a body that is no good JSON is 400", () => {
  test.each([
    ["cut short", '{"name":', "the body is not JSON"],
    ["NaN", '{"name":NaN}', "the body is not JSON"],
    ["__proto__", '{"name":"a","inner":{"__proto__":{"x":1}}}', "__proto__"],
    ["__proto__ in escapes", '{"name":"a","\\u005f_proto__":1}', "__proto__"],
    ["the same key twice", '{"name":"a","n\\u0061me":"b"}', 'the key "name" twice'],
    ["10,000 levels", `{"name":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, "nested deeper than 32"],
  ])("%s", async (_situation, payload, message) => {
    const response = await post(payload);
    expect(response.statusCode).toBe(400);
    expect(response.json<{ errors: string[] }>().errors[0]).toContain(message);
    expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
  });
});

test("the same key in two objects, and brackets inside a text, are no problem", async () => {
  const payload = { name: '{"[:', inner: { name: "b", list: [{ a: 1 }, { a: 2 }] } };
  expect((await post(payload)).json()).toEqual(payload);
});

test("a body over 1 MiB is 413", async () => {
  expect((await post({ name: "x".repeat(1024 * 1024) })).statusCode).toBe(413);
});

test("a body of another type is 415", async () => {
  const response = await app.inject({
    method: "POST",
    url: "/thing",
    headers: { "content-type": "text/plain" },
    payload: "x",
  });
  expect([response.statusCode, Object.keys(response.json())]).toEqual([415, ["errors"]]);
});

test.each([
  ["/nowhere", 404, "not found"],
  ["/refused", 409, "not today"],
  ["/broken", 500, "Internal server error: RangeError"],
])("%s answers %i", async (url, status, error) => {
  const response = await app.inject(url);
  expect([response.statusCode, response.json()]).toEqual([status, { errors: [error] }]);
});

test.each(["/%zz", `/thing/${"x".repeat(600)}`])(
  "an address that cannot be routed is an error of the same shape: %s",
  async (url) => {
    const response = await app.inject(url);
    expect(response.statusCode).toBeLessThan(500);
    expect(response.json()).toEqual({ errors: [expect.any(String)] });
  },
);

test("every answer varies by credential and forbids sniffing and framing", async () => {
  for (const url of ["/open/thing", "/nowhere", "/broken"]) {
    expect((await app.inject(url)).headers).toMatchObject({
      vary: "Authorization, Origin",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
    });
  }
});

describe("other sites", () => {
  const allowed = async (url: string, origin: string) =>
    (await app.inject({ url, headers: { origin } })).headers["access-control-allow-origin"];

  test("may read what is open, and nothing else", async () => {
    expect(await allowed("/open/thing", "https://player.test")).toBe("https://player.test");
    expect(await allowed("/refused", "https://weir.test")).toBe("https://weir.test");
    for (const origin of ["https://player.test", "https://evil-weir.test", "https://weir.test.evil", "null"]) {
      expect(await allowed("/refused", origin)).toBeUndefined();
    }
  });

  test("never get credentials along", async () => {
    const { headers } = await app.inject({ url: "/open/thing", headers: { origin: "https://player.test" } });
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
  });

  test("get an answer to their pre-flight from anywhere", async () => {
    const response = await app.inject({
      method: "OPTIONS",
      url: "/thing",
      headers: {
        origin: "https://player.test",
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-a",
      },
    });
    expect(response.statusCode).toBe(204);
    expect(response.headers).toMatchObject({
      "access-control-allow-origin": "https://player.test",
      "access-control-allow-headers": "x-a",
    });
  });
});

test("readyz tells each check, and is 503 while one fails or the node drains", async () => {
  const readiness = new Readiness(new ManualClock());
  let problem: string | null = null;
  readiness.add("disk", () => problem);
  readiness.add("database", () => Promise.resolve(null));
  addHealthRoutes(app, readiness);
  const ready = async () => {
    const response = await app.inject("/readyz");
    return [response.statusCode, response.json<{ checks: unknown }>().checks];
  };
  expect(await ready()).toEqual([200, { disk: "ok", database: "ok" }]);
  problem = "almost full";
  expect(await ready()).toEqual([503, { disk: "almost full", database: "ok" }]);
  problem = null;
  readiness.drain();
  expect(await ready()).toEqual([503, { node: "draining" }]);
  expect((await app.inject("/healthz")).statusCode).toBe(200);
});

test("a check that does not answer counts as failed after its time", async () => {
  const clock = new ManualClock();
  const readiness = new Readiness(clock);
  readiness.add("database", () => new Promise(() => {}));
  const report = readiness.report();
  clock.advance(2_000);
  expect(await report).toEqual({ isReady: false, checks: { database: "no answer within 2000 ms" } });
});

test("a browser that came by TLS to a trusted proxy is told to come by TLS alone, nobody else is", async () => {
  const told = async (proxies: string[], headers: Record<string, string>) => {
    const behind = createApp({
      log: silentLog,
      proxies: new TrustedProxies(proxies),
      openPrefixes: [],
      ownOrigin: () => "https://weir.test",
    });
    behind.get("/thing", async () => ({}));
    return (await behind.inject({ url: "/thing", headers })).headers["strict-transport-security"];
  };
  expect(await told(["127.0.0.1"], { "x-forwarded-proto": "https" })).toBe("max-age=31536000");
  expect(await told(["127.0.0.1"], { "x-forwarded-proto": "http" })).toBeUndefined();
  expect(await told(["10.0.0.1"], { "x-forwarded-proto": "https" })).toBeUndefined();
});
