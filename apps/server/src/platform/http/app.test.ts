import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog, type Log, silentLog } from "../log.ts";
import { ManualClock } from "../manual-clock-rig.ts";
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
    properties: {
      name: { type: "string" },
      count: { type: "integer", default: 1 },
      inner: { type: "object" },
      link: { type: "string", pattern: "^https://", "x-expects": "an address that begins with https://" },
    },
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
  const message = "The body's Content-Type is text/plain. Send JSON, with the header Content-Type: application/json.";
  expect([response.statusCode, response.json()]).toMatchObject([415, { code: "unsupported-media-type", message }]);
});

test.each(["gzip", "br", "identity, gzip"])(
  "a body in %s is 415, and is not taken for plain text",
  async (encoding) => {
    const response = await app.inject({
      method: "POST",
      url: "/thing",
      headers: { "content-type": "application/json", "content-encoding": encoding },
      payload: '{"name":"a"}',
    });
    expect([response.statusCode, response.json()]).toMatchObject([415, { code: "unsupported-encoding" }]);
  },
);

test("a pattern is told in words, and neither it nor the refused value is shown", async () => {
  const response = await post({ name: "a", link: "ftp://secret.example/" });
  const { message, errors, code } = response.json();
  expect([response.statusCode, code, message]).toEqual([
    422,
    "invalid-body",
    "link must be an address that begins with https://",
  ]);
  expect(Object.keys(JSON.parse(errors[0]))).toEqual(["instancePath", "schemaPath", "keyword", "params", "message"]);
  expect(response.body).not.toContain("secret.example");
});

describe("a request id", () => {
  test("is in the header of every response, in the body of every error, and in the log of a failure", async () => {
    const lines: string[] = [];
    const log = createLog(
      { level: "info", readable: false },
      new PassThrough().on("data", (line) => lines.push(String(line))),
    );
    const logged = createApp({ log, openPrefixes: [], ownOrigin: () => "https://weir.test" });
    logged.get("/thing", async () => ({}));
    logged.get("/broken", async () => {
      throw new RangeError("the password is hunter2");
    });
    const fine = await logged.inject("/thing");
    expect(fine.headers["x-request-id"]).toMatch(/^[0-9a-f]{16}$/);
    const ids = new Set([fine.headers["x-request-id"]]);
    for (const url of ["/nowhere", "/%zz", "/broken"]) {
      const { headers, ...answer } = await logged.inject(url);
      expect(answer.json()).toMatchObject({ requestId: headers["x-request-id"], code: expect.any(String) });
      ids.add(headers["x-request-id"]);
    }
    expect(ids.size).toBe(4);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { requestId: [...ids].at(-1), msg: "a request failed" },
    ]);
  });

  test("is the server's own, whatever the sender sends", async () => {
    const { headers } = await app.inject({
      url: "/thing/1",
      headers: { "x-request-id": "mine", "request-id": "mine" },
    });
    expect(headers["x-request-id"]).not.toBe("mine");
  });
});

test.each([
  ["PUT", "/thing", "POST"],
  ["POST", "/thing/7", "GET, HEAD"],
  ["GET", "/thing", "POST"],
])("%s at an address of other methods is 405 and names them", async (method, url, allow) => {
  const answer = await app.inject({ method: method as "PUT", url: `${url}?token=secret` });
  const message = `${url} does not take ${method}. It takes ${allow}.`;
  expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow]);
  expect(answer.json()).toMatchObject({ code: "method-not-allowed", message });
});

test.each([
  ["/nowhere", 404, "unknown-path", "not found: there is no operation GET /nowhere. /api links to "],
  ["/refused", 409, "bad-request", "not today"],
  ["/broken", 500, "internal", "Internal server error: RangeError. The server's log has the cause under "],
])("%s answers %i", async (url, status, code, beginning) => {
  const response = await app.inject(url);
  const { errors, message, ...rest } = response.json();
  expect([response.statusCode, rest]).toMatchObject([status, { code }]);
  expect([errors, message.slice(0, beginning.length)]).toEqual([[message], beginning]);
});

test.each(["/%zz", `/thing/${"x".repeat(600)}`])(
  "an address that cannot be routed is an error of the same shape: %s",
  async (url) => {
    const response = await app.inject(url);
    expect(response.statusCode).toBeLessThan(500);
    expect(response.json()).toMatchObject({ errors: [expect.any(String)], code: "bad-address" });
    expect(response.headers["x-content-type-options"]).toBe("nosniff");
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

test("a client that leaves before its answer begins is no error in the log; a stream that fails is", async () => {
  const errors: string[] = [];
  const log: Log = Object.assign(Object.create(silentLog) as Log, {
    error: ({ err }: { err: Error }) => void errors.push(err.message),
  });
  const served = createApp({ log, openPrefixes: [], ownOrigin: () => "https://weir.test" });
  const asked = Promise.withResolvers<Readable>();
  served.post("/slow", (_request, reply) => {
    const body = new Readable({ read() {} });
    asked.resolve(body);
    return reply.send(body);
  });
  served.get("/failing", (_request, reply) =>
    reply.send(
      new Readable({
        read() {
          this.destroy(new Error("torn"));
        },
      }),
    ),
  );
  const address = await served.listen({ host: "127.0.0.1", port: 0 });
  try {
    const leaving = new AbortController();
    // A request that was read to its end: of others the framework knows by itself.
    const headers = { "content-type": "application/json" };
    const left = fetch(`${address}/slow`, { method: "POST", headers, body: "{}", signal: leaving.signal }).catch(
      () => "left",
    );
    const body = await asked.promise;
    leaving.abort();
    expect(await left).toBe("left");
    if (!body.closed) await once(body, "close");
    await fetch(`${address}/failing`);
    expect(errors).toEqual(["torn"]);
  } finally {
    await served.close();
  }
});
