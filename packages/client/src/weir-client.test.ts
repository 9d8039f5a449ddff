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

test("a failed validation names the field", async () => {
  const ajv = { instancePath: "/name", keyword: "type", params: { type: "string" }, message: "must be string" };
  const { baseUrl } = await serverThat(json({ errors: [JSON.stringify(ajv)] }, 422));
  const error = await failureOf(new WeirClient({ baseUrl, apiKey: "k" }).streams.create({ name: "x" }));
  expect(error).toMatchObject({ status: 422, errors: ["name must be string"] });
});

test("an answer that is no JSON still says what was asked and what came", async () => {
  const { baseUrl } = await serverThat((_request, response) => response.writeHead(502).end("<html>"));
  const error = await failureOf(new WeirClient({ baseUrl, apiKey: "k" }).ingest());
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
