import {
  type Access,
  type CreatedApiToken,
  type LaterRoute,
  laterRoutes,
  type Person,
  type RequestedUpload,
  type Route,
  routes,
  type SigningKey,
  type Stream,
  type Webhook,
} from "@weir/contract";
import { afterAll, describe, expect, it } from "vitest";
import { addProject, startTestDomains } from "./domain-test-kit.ts";

/*
 * Walks every operation that the server has a route for, so that one that is added is held to the same rules without anybody thinking of it.
 * Where a new one fails here: its path needs a thing in THINGS or a body in BODIES, and its store a look at the project.
 */

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
}
interface Operation {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly auth: Route["auth"];
  readonly body?: Schema;
  /** False where the dashboard's cookie alone will do. */
  readonly takesKey: boolean;
}

const WEBHOOK = { name: "hook", url: "https://example.com/", events: ["stream.started"] };

const kit = await startTestDomains();
afterAll(() => kit[Symbol.asyncDispose]());

const operations = [...Object.values(routes), ...laterRoutes].map(operationOf);
const open = operations.filter(({ auth }) => auth === "none");
const closed = operations.filter(({ auth }) => auth !== "none");

const owner = { key: kit.apiKey, dashboard: await signIn(kit.apiKey) };
const stranger = await strangerOf("every-route");
const world = await makeWorld();
const readOnly = await makeKey({ rules: [{ resources: ["*"], methods: ["get"] }] });
const ofPage = await makeKey({ cors: { allowedOrigins: ["https://app.test"] } });
const suspended = await strangerOf("suspended");
await kit.db.updateTable("account").set({ suspended: true }).where("id", "=", suspended.userId).execute();

const before = (await kit.call("GET", `/api/stream/${world.stream}`)).json();

/** The resource that the first parameter of a path names; the first that fits. */
const THINGS: readonly (readonly [RegExp, string])[] = [
  [/^\/api\/stream\/playback\//, world.playbackId],
  [/^\/api\/stream\/key\//, world.streamKey],
  [/^\/api\/stream\/user\//, world.userId],
  [/^\/(api\/)?(data\/)?stream\//, world.stream],
  [/^\/api\/session\//, world.session],
  [/^\/api\/multistream\/target\//, world.target],
  [/^\/api\/webhook\/subscribed\//, "asset.failed"],
  [/^\/api\/webhook\//, world.webhook],
  [/^\/api\/person\//, world.person],
  [/^\/api\/project\//, world.project],
  [/^\/api\/asset\//, world.asset],
  [/^\/api\/clip\//, world.stream],
  [/^\/api\/task\//, world.task],
  [/^\/api\/access-control\/signing-key\//, world.signingKey],
  [/^\/api\/api-token\//, world.token],
];

/** Bodies that a schema alone does not give. */
const BODIES: Readonly<Record<string, unknown>> = {
  "DELETE /api/stream": { ids: [world.stream] },
  "DELETE /api/webhook": { ids: [world.webhook] },
  "POST /api/webhook": WEBHOOK,
  "PUT /api/webhook/{id}": WEBHOOK,
  "POST /api/person": { name: "somebody", password: "a long password" },
  "PATCH /api/person/{id}": { password: "a long password" },
  "POST /api/multistream/target": { url: "rtmp://example.com/live/x" },
  "PATCH /api/stream/{id}/suspended": { suspended: true },
  "POST /api/asset/upload/url": { name: "imported", url: "https://example.com/a.mp4" },
  "POST /api/asset/import": { name: "imported", url: "https://example.com/b.mp4" },
  "POST /api/transcode": {
    input: { url: "https://example.com/a.mp4" },
    storage: {
      type: "s3",
      endpoint: "https://s3.example.com",
      bucket: "results",
      credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    },
    outputs: { hls: { path: "/out" } },
  },
  "POST /api/access-control/try": { playbackId: world.playbackId },
  "POST /api/access-control/owner-token": { playbackId: world.playbackId },
  "POST /api/stream/{id}/create-multistream-target": { profile: "source", id: world.target },
};

/** Of an address that would answer for ever without. */
const QUERIES: readonly (readonly [RegExp, string])[] = [[/\/events$/, "?from=1600000000000&to=1600000000001"]];

/** Routes without a key. A route belongs here by decision, not by accident. */
const OPEN = [
  "DELETE /api/dashboard/sign-in",
  "GET /api",
  "GET /api/data/views/query/total/{id}",
  "GET /api/ingest",
  "GET /api/playback/{id}",
  "GET /data/views/query/total/{id}",
  "POST /analytics/log",
  "POST /api/dashboard/log-in",
  "POST /api/dashboard/sign-in",
  "POST /api/data/analytics/log",
  "POST /data/analytics/log",
];

/** Addresses of documents. */
const NO_OPERATIONS = ["GET /api/openapi.json"];

/** Routes that a key in a web page may call: the list that clients of this API know. */
const FOR_PAGES = [
  "GET /api/stream/{id}/sessions",
  "GET /api/stream/sessions/{id}",
  "GET /api/session/{id}",
  "GET /api/stream/{id}",
  "PATCH /api/stream/{id}",
  "GET /api/multistream/target/{id}",
  "PATCH /api/multistream/target/{id}",
  "GET /api/asset/{id}",
  "PATCH /api/asset/{id}",
  "POST /api/stream",
  "POST /api/multistream/target",
  "POST /api/asset/upload/url",
  "POST /api/asset/request-upload",
  "POST /api/asset/{id}/export",
  "GET /api/task/{id}",
  "GET /api/data/views/{id}/total",
  "GET /api/data/views/query/total/{id}",
  "GET /api/data/views/query/creator",
];

/** Read by who may do everything, or by the dashboard alone. */
const NOT_FOR_READERS = ["GET /api/dashboard/settings"];

it("every route of the app is an operation of the contract, or no operation at all", () => {
  const known = new Set([...Object.values(routes), ...laterRoutes].map(({ method, path }) => `${method} ${path}`));
  const others = kit.operations.filter((name) => !name.startsWith("HEAD ") && !known.has(name));
  expect(others).toEqual(NO_OPERATIONS);
});

it("what is open is open by decision", () => {
  expect(open.map(({ name }) => name).sort()).toEqual(OPEN);
});

describe("without a key", () => {
  it.each(closed)("$name is 401", async (operation) => {
    expect((await ask(operation, {})).statusCode).toBe(401);
  });
});

describe("with a key of a suspended account", () => {
  it.each(closed)("$name is 403", async (operation) => {
    expect((await ask(operation, { authorization: suspended.key })).statusCode).toBe(403);
  });
});

describe("with another project's key, or at its dashboard", () => {
  it.each(closed)("$name tells and changes nothing", async (operation) => {
    const answer = await ask(operation, credentials(operation, stranger));
    if (answer.statusCode === 501) return;
    // A resource named by its id: 404, or a list without it. No answer holds anything of the other project.
    const isEmptyList = answer.statusCode === 200 && answer.body === "[]";
    if (namesThing(operation)) expect(isEmptyList ? 404 : answer.statusCode).toBe(404);
    else expect(answer.statusCode).toBeLessThan(500);
    for (const secret of Object.values(world)) expect(answer.body).not.toContain(secret);
  });

  it("and the things are there as before", async () => {
    expect((await kit.call("GET", `/api/stream/${world.stream}`)).json()).toEqual(before);
    for (const operation of closed.filter(({ method, path }) => method === "GET" && path.endsWith("{id}"))) {
      const { statusCode } = await ask(operation, credentials(operation, owner));
      expect([operation.name, [200, 501].includes(statusCode)]).toEqual([operation.name, true]);
    }
  });
});

describe("with a key that may only read", () => {
  it.each(closed.filter(({ method }) => method !== "GET"))("$name is 403", async (operation) => {
    expect((await ask(operation, { authorization: readOnly })).statusCode).toBe(403);
  });

  it.each(closed.filter(({ method, takesKey }) => method === "GET" && takesKey))(
    "$name is read, unless it is about the server",
    async (operation) => {
      const { statusCode } = await ask(operation, { authorization: readOnly });
      expect(statusCode === 403).toBe(NOT_FOR_READERS.includes(operation.name));
    },
  );
});

describe("with a key that stands in a web page", () => {
  it.each(closed)("$name is refused, or in the list", async (operation) => {
    const headers = { authorization: ofPage, origin: "https://app.test" };
    const { statusCode } = await ask(operation, headers);
    const name = operation.name.replace(" /data/", " /api/data/");
    expect([operation.name, statusCode !== 403]).toEqual([operation.name, FOR_PAGES.includes(name)]);
    if (statusCode === 403) return;
    expect((await ask(operation, { ...headers, origin: "https://evil.test" })).statusCode).toBe(403);
  });
});

function operationOf(route: Route | LaterRoute): Operation {
  const { method } = route;
  const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
  const auth = "auth" in route ? route.auth : "key";
  const body = "body" in route && route.body ? { body: route.body as Schema } : {};
  return { name: `${method} ${path}`, method, path, auth, ...body, takesKey: auth === "key" };
}

function ask({ name, method, path, body }: Operation, headers: Record<string, string>) {
  const thing = THINGS.find(([pattern]) => pattern.test(path))?.[1] ?? "00000000-0000-4000-8000-000000000000";
  const query = QUERIES.find(([pattern]) => pattern.test(path))?.[1] ?? "";
  const url = path.replaceAll(/\{\w+\}/g, thing) + query;
  return kit.call(method, url, BODIES[name] ?? (body && sample(body)), headers);
}

/** Whether the request of `ask` has an id of the world in it. */
function namesThing({ name, path }: Operation): boolean {
  const body = JSON.stringify(BODIES[name] ?? null);
  return path.includes("{") || Object.values(world).some((thing) => body.includes(thing));
}

/** The least that fits. */
function sample(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return sample(schema.anyOf[0]);
  if (schema.type === "string") return "x";
  if (schema.type === "integer" || schema.type === "number") return schema.minimum ?? 0;
  if (schema.type === "array") return [];
  if (schema.type !== "object") return true;
  const entries = (schema.required ?? []).map((name) => [name, sample(schema.properties?.[name] ?? {})]);
  return Object.fromEntries(entries);
}

function credentials({ takesKey, path }: Operation, who: { key: string; dashboard: Record<string, string> }) {
  return takesKey && path !== "/api/dashboard/session" ? { authorization: who.key } : who.dashboard;
}

async function signIn(apiKey: string): Promise<Record<string, string>> {
  const answer = await kit.call("POST", "/api/dashboard/sign-in", { apiKey }, {});
  return { cookie: String(answer.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
}

async function strangerOf(name: string) {
  const { apiKey, userId } = await addProject(kit.db, name);
  return { key: apiKey, userId, dashboard: await signIn(apiKey) };
}

async function makeKey(access: Access): Promise<string> {
  const answer = await kit.call("POST", "/api/api-token", { access }, owner.dashboard);
  return answer.json<CreatedApiToken>().key;
}

/** One thing of each kind, in the first project. */
async function makeWorld() {
  const target = { profile: "source", spec: { url: "rtmp://example.com/live/secret-of-a-target" } };
  const body = { name: "name-of-a-foreign-stream", record: true, multistream: { targets: [target] } };
  const stream = (await kit.call("POST", "/api/stream", body)).json<Stream>();
  const request = { protocol: "rtmp", streamKey: stream.streamKey ?? "", remoteAddress: "127.0.0.1" } as const;
  const decision = await kit.domains.publishGate.authorize(request);
  const session = decision.ok ? await kit.domains.publishGate.begin(decision.grant, kit.clock.now()) : null;
  const token = (await kit.call("POST", "/api/api-token", {}, owner.dashboard)).json<CreatedApiToken>();
  const person = { name: "name-of-a-person", password: "a long password" };
  const { id: personId } = (await kit.call("POST", "/api/person", person, owner.dashboard)).json<Person>();
  const webhook = (await kit.call("POST", "/api/webhook", WEBHOOK)).json<Webhook>();
  const signingKey = (await kit.call("POST", "/api/access-control/signing-key")).json<SigningKey>();
  const { asset, task } = (
    await kit.call("POST", "/api/asset/request-upload", { name: "name-of-an-asset" })
  ).json<RequestedUpload>();
  return {
    asset: asset.id,
    task: task.id,
    stream: stream.id,
    streamKey: stream.streamKey ?? "",
    playbackId: stream.playbackId,
    name: stream.name,
    userId: stream.userId,
    project: stream.projectId,
    session: session?.sessionId ?? "",
    target: stream.multistream.targets[0]?.id ?? "",
    token: token.id,
    person: personId,
    webhook: webhook.id,
    signingKey: signingKey.id,
  };
}
