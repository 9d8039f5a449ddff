import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { WeirClient } from "./weir-client.ts";
import { WeirError } from "./weir-error.ts";

type Answer = (request: IncomingMessage & { text: string }, response: ServerResponse) => void;

const open: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A server on loopback that answers as told and keeps what it was asked. */
async function serverThat(
  answer: Answer,
): Promise<{ baseUrl: string; asked: Array<IncomingMessage & { text: string }> }> {
  const asked: Array<IncomingMessage & { text: string }> = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const seen = Object.assign(request, { text });
    asked.push(seen);
    answer(seen, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const json = (body: unknown, status = 200): Answer => {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
};

const failureOf = (call: Promise<unknown>): Promise<WeirError> =>
  call.then(
    () => {
      throw new Error("the call succeeded");
    },
    (error) => {
      if (error instanceof WeirError) return error;
      throw error;
    },
  );

test("a call with a key sends it as Bearer and the body as JSON", async () => {
  const { baseUrl, asked } = await serverThat(json({ id: "s1", name: "Stage" }, 201));
  const client = new WeirClient({ baseUrl: `${baseUrl}/`, apiKey: "secret" });
  expect(await client.streams.create({ name: "Stage", record: true })).toMatchObject({ id: "s1" });
  expect(asked[0]).toMatchObject({ method: "POST", url: "/api/stream", text: '{"name":"Stage","record":true}' });
  expect(asked[0]?.headers).toMatchObject({ authorization: "Bearer secret", "content-type": "application/json" });
});

test("a call without a key goes by cookie, with the header that foreign pages cannot set", async () => {
  const { baseUrl, asked } = await serverThat((_request, response) => response.writeHead(204).end());
  await new WeirClient({ baseUrl }).dashboard.signOut();
  expect(asked[0]).toMatchObject({ method: "DELETE", url: "/api/dashboard/sign-in" });
  expect(asked[0]?.headers["x-weir-request"]).toBe("1");
  expect(asked[0]?.headers.authorization).toBeUndefined();
});

test("ids are escaped, so that none can name another path", async () => {
  const { baseUrl, asked } = await serverThat((_request, response) => response.writeHead(204).end());
  await new WeirClient({ baseUrl, apiKey: "k" }).streams.delete("../session/x?y");
  expect(asked[0]?.url).toBe("/api/stream/..%2Fsession%2Fx%3Fy");
});

test("each stream comes once, over as many pages as the server links", async () => {
  const { baseUrl, asked } = await serverThat((request, response) => {
    const cursor = new URL(request.url ?? "", "http://x").searchParams.get("cursor");
    if (cursor === null)
      response.setHeader("link", '<https://weir.example/api/stream?limit=2&cursor=a%2Bb>; rel="next"');
    json(cursor === null ? [{ id: "1" }, { id: "2" }] : [{ id: "3" }])(request, response);
  });
  const ids: string[] = [];
  for await (const stream of new WeirClient({ baseUrl, apiKey: "k" }).streams.each({ limit: 2 })) ids.push(stream.id);
  expect(ids).toEqual(["1", "2", "3"]);
  expect(asked.map((request) => request.url)).toEqual(["/api/stream?limit=2", "/api/stream?limit=2&cursor=a%2Bb"]);
});

test("a list by name and activity says so in the query", async () => {
  const { baseUrl, asked } = await serverThat(json([]));
  await new WeirClient({ baseUrl, apiKey: "k" }).streams.list({ name: 'a"b', active: true });
  const search = new URL(asked[0]?.url ?? "", "http://x").searchParams;
  expect(Object.fromEntries(search)).toEqual({
    filters: '[{"id":"name","value":"a\\"b"},{"id":"isActive","value":true}]',
  });
});

test("a list by everything else says so too, and false is not the same as unasked", async () => {
  const { baseUrl, asked } = await serverThat(json([]));
  const { streams } = new WeirClient({ baseUrl, apiKey: "k" });
  await streams.list({ name: "", active: false, suspended: false, record: true, createdSince: 17 });
  await streams.list({ name: "" });
  expect(asked.map(({ url }) => new URL(url ?? "", "http://x").searchParams.get("filters"))).toEqual([
    JSON.stringify([
      { id: "isActive", value: false },
      { id: "suspended", value: false },
      { id: "record", value: true },
      { id: "createdAt", value: { gte: 17 } },
    ]),
    null,
  ]);
});

test("several streams are deleted with one request, and one is suspended and let go with two", async () => {
  const { baseUrl, asked } = await serverThat((_request, response) => response.writeHead(204).end());
  const { streams } = new WeirClient({ baseUrl, apiKey: "k" });
  await streams.deleteMany(["a", "b"]);
  await streams.suspend("a");
  await streams.suspend("a", false);
  expect(asked.map(({ method, url, text }) => `${method} ${url} ${text}`)).toEqual([
    'DELETE /api/stream {"ids":["a","b"]}',
    'PATCH /api/stream/a {"suspended":true}',
    'PATCH /api/stream/a {"suspended":false}',
  ]);
});

test("API keys are made, listed page after page, read and deleted", async () => {
  const { baseUrl, asked } = await serverThat((request, response) => {
    if (request.method === "GET" && request.url === "/api/api-token?limit=1")
      response.setHeader("link", '</api/api-token?limit=1&cursor=skip1>; rel="next"');
    json(request.url?.includes("?") ? [{ id: request.url }] : { id: "t1", key: "shown-once" })(request, response);
  });
  const { apiTokens } = new WeirClient({ baseUrl });
  const access = { rules: [{ resources: ["*"], methods: ["get" as const] }] };
  expect((await apiTokens.create({ name: "ci", access })).key).toBe("shown-once");
  await apiTokens.create();
  await apiTokens.get("t1");
  await apiTokens.delete("t/1");
  for await (const token of apiTokens.each({ limit: 1 })) expect(token.id).toContain("/api/api-token");
  expect(asked.map(({ method, url, text }) => `${method} ${url} ${text}`.trim())).toEqual([
    'POST /api/api-token {"name":"ci","access":{"rules":[{"resources":["*"],"methods":["get"]}]}}',
    "POST /api/api-token {}",
    "GET /api/api-token/t1",
    "DELETE /api/api-token/t%2F1",
    "GET /api/api-token?limit=1",
    "GET /api/api-token?limit=1&cursor=skip1",
  ]);
});

test("the settings are what the server says", async () => {
  const { baseUrl, asked } = await serverThat(json({ version: "1.2.3", settings: [], nodes: [] }));
  expect(await new WeirClient({ baseUrl }).dashboard.settings()).toEqual({ version: "1.2.3", settings: [], nodes: [] });
  expect(asked[0]?.url).toBe("/api/dashboard/settings");
});

test("an error answer becomes its sentences", async () => {
  const { baseUrl } = await serverThat(json({ errors: ["cannot change 'record' field while stream is active"] }, 400));
  const error = await failureOf(new WeirClient({ baseUrl, apiKey: "k" }).streams.patch("s1", { record: false }));
  expect(error).toMatchObject({ status: 400, message: "cannot change 'record' field while stream is active" });
});

test("a failed validation is the server's sentence, not the validator's object", async () => {
  const ajv = { instancePath: "/name", keyword: "type", params: { type: "string" }, message: "must be string" };
  const body = { errors: [JSON.stringify(ajv)], message: "name must be string", code: "invalid-body", requestId: "r1" };
  const { baseUrl } = await serverThat(json(body, 422));
  const error = await failureOf(new WeirClient({ baseUrl, apiKey: "k" }).streams.create({ name: "x" }));
  expect(error).toMatchObject({ status: 422, errors: ["name must be string"], code: "invalid-body", requestId: "r1" });
});

test("an answer that is no JSON still says what was asked and what came", async () => {
  const { baseUrl } = await serverThat((_request, response) => response.writeHead(502).end("<html>"));
  const error = await failureOf(new WeirClient({ baseUrl, apiKey: "k" }).ingest.list());
  expect(error.message).toBe("GET /api/ingest was answered 502 Bad Gateway");
});

test("a server that does not answer in time is a WeirError that says so", async () => {
  const { baseUrl } = await serverThat(() => {});
  const error = await failureOf(new WeirClient({ baseUrl, apiKey: "k", timeoutMs: 50 }).sessions.get("x"));
  expect(error).toMatchObject({ status: 0, message: `${baseUrl} did not answer within 0.05 s (GET /api/session/x)` });
});

test("a server that is not there is a WeirError with the cause", async () => {
  const error = await failureOf(new WeirClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k" }).playback.get("p"));
  expect(error).toMatchObject({ status: 0, message: "http://127.0.0.1:1 could not be reached (GET /api/playback/p)" });
  expect(error.cause).toBeInstanceOf(Error);
});

test("a call that its caller aborts ends with the caller's reason", async () => {
  const { baseUrl } = await serverThat(() => {});
  const abort = new AbortController();
  const call = new WeirClient({ baseUrl, apiKey: "k" }).streams.get("x", { signal: abort.signal });
  abort.abort(new Error("changed my mind"));
  await expect(call).rejects.toThrow("changed my mind");
});

test("no dashboard session is an answer, not an error", async () => {
  const { baseUrl } = await serverThat(json({ errors: ["request is not authenticated"] }, 401));
  expect(await new WeirClient({ baseUrl }).dashboard.session()).toBeNull();
});

test("an error has the server's code, for programs", async () => {
  const { baseUrl } = await serverThat(json({ errors: ["not found"], code: "not-found" }, 404));
  const client = new WeirClient({ baseUrl, apiKey: "secret" });
  expect(await failureOf(client.streams.get("s1"))).toMatchObject({ status: 404, code: "not-found" });
  const other = await serverThat((_request, response) => response.writeHead(502).end("<html>"));
  const failure = await failureOf(new WeirClient({ baseUrl: other.baseUrl, apiKey: "secret" }).streams.get("s1"));
  expect(failure).toMatchObject({ status: 502, code: null });
});

test("ids are escaped, so that none leads to another address", async () => {
  const { baseUrl, asked } = await serverThat(json({}));
  const client = new WeirClient({ baseUrl, apiKey: "secret" });
  await client.webhooks.log("a/../b", "c?d#e");
  expect(asked[0]?.url).toBe("/api/webhook/a%2F..%2Fb/log/c%3Fd%23e");
});

/** Answers with these statuses one after the other, then with 200; 0 breaks the connection. */
const thenWell = (...statuses: number[]): Answer => {
  const left = [...statuses];
  return (_request, response) => {
    const status = left.shift();
    if (status === 0) return void response.destroy();
    if (status === undefined) return void response.writeHead(200, { "content-type": "application/json" }).end("{}");
    const headers = { "content-type": "application/json", "retry-after": "0", "x-request-id": "f00" };
    const code = status === 409 ? "in-progress" : "too-many-requests";
    response.writeHead(status, headers).end(JSON.stringify({ errors: ["later"], message: "Later.", code }));
  };
};

test.each([[[429]], [[503, 429]], [[0]], [[0, 0]], [[0, 409]]])(
  "a call that meets %j is retried, and a POST keeps its Idempotency-Key",
  async (statuses) => {
    const { baseUrl, asked } = await serverThat(thenWell(...statuses));
    await new WeirClient({ baseUrl, apiKey: "k" }).streams.create({ name: "x" });
    expect(asked).toHaveLength(statuses.length + 1);
    const keys = new Set(asked.map(({ headers }) => headers["idempotency-key"]));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  },
);

test("two calls have two keys, unless their caller gives one", async () => {
  const { baseUrl, asked } = await serverThat(json({}));
  const { streams } = new WeirClient({ baseUrl, apiKey: "k" });
  for (const options of [{}, {}, { idempotencyKey: "mine" }]) await streams.create({ name: "x" }, options);
  const [first, second, third] = asked.map(({ headers }) => headers["idempotency-key"]);
  expect(first).not.toBe(second);
  expect(third).toBe("mine");
});

test("what a retry cannot cure is not retried, and no call more often than it may be", async () => {
  const of = async (status: number, options: { maxRetries?: number }) => {
    const { baseUrl, asked } = await serverThat(thenWell(status, status, status, status));
    const error = await failureOf(new WeirClient({ baseUrl, apiKey: "k", ...options }).streams.get("x"));
    return [asked.length, error];
  };
  expect(await of(404, {})).toEqual([1, expect.objectContaining({ status: 404, requestId: "f00" })]);
  expect(await of(429, {})).toEqual([3, expect.objectContaining({ status: 429, retryAfterMs: 0 })]);
  expect(await of(503, { maxRetries: 0 })).toEqual([1, expect.objectContaining({ status: 503 })]);
});

test("a POST by the sign-in's cookie has no key, so a broken connection ends it", async () => {
  const { baseUrl, asked } = await serverThat(thenWell(0, 0, 0));
  expect(await failureOf(new WeirClient({ baseUrl }).streams.create({ name: "x" }))).toMatchObject({
    code: "unreachable",
  });
  expect(asked).toHaveLength(1);
});

test("a server that asks for more patience than half a minute is not waited for", async () => {
  const { baseUrl, asked } = await serverThat((_request, response) =>
    response.writeHead(503, { "retry-after": "600" }).end(),
  );
  const error = await failureOf(new WeirClient({ baseUrl, apiKey: "k" }).streams.get("x"));
  expect([asked.length, error.retryAfterMs]).toEqual([1, 600_000]);
});

test("a caller that gives up ends the wait for a retry", async () => {
  const abort = new AbortController();
  const { baseUrl } = await serverThat((_request, response) => {
    response.writeHead(503, { "retry-after": "20" }).end();
    setImmediate(() => abort.abort(new Error("enough")));
  });
  await expect(new WeirClient({ baseUrl, apiKey: "k" }).streams.get("x", { signal: abort.signal })).rejects.toThrow(
    "enough",
  );
});

test("headers of the client and of a call are sent, in lists and feeds too, and never take the place of the key", async () => {
  const { baseUrl, asked } = await serverThat(json([]));
  const client = new WeirClient({ baseUrl, apiKey: "k", headers: { traceparent: "00-1", authorization: "x" } });
  await client.streams.list({ limit: 3, headers: { "x-mine": "1" }, maxRetries: 0 });
  await client.streams.events("s", { headers: { "x-mine": "2" }, to: 1 }).next();
  expect(asked[0]).toMatchObject({
    url: "/api/stream?limit=3",
    headers: { traceparent: "00-1", "x-mine": "1", authorization: "Bearer k" },
  });
  expect(asked[1]?.headers).toMatchObject({ traceparent: "00-1", "x-mine": "2", accept: "text/event-stream" });
});
