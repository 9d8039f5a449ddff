import { Writable } from "node:stream";
import type { CreatedApiToken, CreatedSigningKey, Stream } from "@weir/contract";
import { routes } from "@weir/contract";
import { afterAll, expect, it } from "vitest";
import { createLog } from "../platform/log.ts";
import { startTestDomains, viewerOf } from "./domain-test-kit.ts";

/*
 * Hostile input 90: one of each secret is made and used well and badly; then nothing that is listed, told or logged has any of them,
 * and one answer alone shows each.
 */

const lines: string[] = [];
const sink = new Writable({
  write(chunk: Buffer, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});
const kit = await startTestDomains({}, { log: createLog({ level: "trace", readable: false }, sink) });
afterAll(() => kit[Symbol.asyncDispose]());

const TARGET_KEY = "key-of-the-target-0815";
const SHARED_SECRET = "shared-secret-of-the-webhook";
const PASSWORD = "a horse, a battery";
const ACCESS_KEY = "access-key-of-a-viewer";

const signedIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
const cookie = String(signedIn.headers["set-cookie"]).split(";")[0] ?? "";
const dashboard = { cookie, "x-weir-request": "1" };
async function post<Answer>(path: string, body?: unknown): Promise<Answer> {
  const answer = await kit.call("POST", path, body, dashboard);
  if (answer.statusCode > 201) throw new Error(`${path}: ${answer.body}`);
  return answer.json();
}

const token = await post<CreatedApiToken>("/api/api-token");
const signingKey = await post<CreatedSigningKey>("/api/access-control/signing-key");
await post("/api/person", { name: "ada", password: PASSWORD });
const target = { profile: "source", spec: { url: `rtmp://user:${TARGET_KEY}@127.0.0.1:41935/live/${TARGET_KEY}` } };
const webhook = await post<{ id: string }>("/api/webhook", {
  name: "hook",
  url: "http://127.0.0.1:49999/",
  events: ["stream.started", "stream.idle", "playback.accessControl"],
  sharedSecret: SHARED_SECRET,
});
const stream = await post<Stream>("/api/stream", {
  name: "stage",
  multistream: { targets: [target] },
  playbackPolicy: { type: "webhook", webhookId: webhook.id },
});

const secrets: Record<string, string> = {
  "API key": kit.apiKey,
  "another API key": token.key,
  cookie: cookie.slice(cookie.indexOf("=") + 1),
  "private key": signingKey.privateKey,
  "stream key": stream.streamKey ?? "",
  "target's address": TARGET_KEY,
  "shared secret": SHARED_SECRET,
  password: PASSWORD,
  "access key": ACCESS_KEY,
};

await useThem();

async function useThem(): Promise<void> {
  for (const streamKey of [stream.streamKey ?? "", (stream.streamKey ?? "").replace(/.$/, "!")]) {
    const request = { protocol: "rtmp", streamKey, remoteAddress: "127.0.0.1" } as const;
    const decision = await kit.domains.publishGate.authorize(request);
    if (decision.ok) await kit.domains.publishGate.begin(decision.grant, kit.clock.now());
  }
  await kit.domains.playbackGate.open(viewerOf(stream.playbackId, { accessKeys: [ACCESS_KEY], tokens: [ACCESS_KEY] }));
  await kit.call("POST", "/api/dashboard/log-in", { name: "ada", password: PASSWORD }, {});
  await kit.call("POST", "/api/dashboard/log-in", { name: "ada", password: `${PASSWORD}!` }, {});
  await kit.call("POST", "/api/dashboard/sign-in", { apiKey: `${kit.apiKey}!` }, {});
  await kit.call("GET", "/api/stream", undefined, { authorization: `Bearer ${token.key}` });
  await kit.call("GET", `/api/stream/key/${stream.streamKey}`);
  await kit.call("GET", `/api/stream/key/${stream.streamKey}x`);
  await kit.call("PATCH", `/api/stream/${stream.id}`, { suspended: true });
  await kit.domains.eventSink.settle();
  await kit.domains.deliveries.run();
}

/** A stream shows its key to who owns it: clients of this API read it there. */
const SHOWS_STREAM_KEY = /^\/api\/stream(\/|$)/;

const told = (text: string, except: readonly string[] = []) =>
  Object.entries(secrets).flatMap(([name, secret]) => (!except.includes(name) && text.includes(secret) ? [name] : []));

it("there is one of each", () => {
  expect(Object.entries(secrets).filter(([, secret]) => secret.length < 10)).toEqual([]);
});

it.each(Object.values(routes).filter(({ method, path }) => method === "GET" && !path.endsWith("/events")))(
  "$path shows none",
  async ({ path }) => {
    const things: [RegExp, string][] = [
      [/\/stream\/playback\//, stream.playbackId],
      [/\/playback\//, stream.playbackId],
      [/\/webhook\//, webhook.id],
      [/signing-key/, signingKey.id],
      [/api-token/, token.id],
      [/./, stream.id],
    ];
    const id = things.find(([pattern]) => pattern.test(path))?.[1] ?? "";
    const answer = await kit.call("GET", path.replace(/:\w+/g, id), undefined, dashboard);
    const except = SHOWS_STREAM_KEY.test(path) ? ["stream key"] : [];
    expect(told(answer.body + JSON.stringify(answer.headers), except)).toEqual([]);
  },
);

it("events, and what webhooks were told, hold none", async () => {
  const rows = await Promise.all([
    kit.db.selectFrom("event_lifecycle").selectAll().execute(),
    kit.db.selectFrom("event_telemetry").selectAll().execute(),
    kit.db.selectFrom("webhook_log").selectAll().execute(),
  ]);
  expect(rows[0].length).toBeGreaterThan(0);
  expect(told(JSON.stringify(rows))).toEqual([]);
});

it("the log at its most talkative holds none", () => {
  expect(lines.length).toBeGreaterThan(10);
  expect(told(lines.join(""))).toEqual([]);
});

it("keys, cookies and passwords are stored as their hashes alone", async () => {
  const tables = ["api_key", "dashboard_session", "person", "signing_key", "idempotent_request"] as const;
  const rows = await Promise.all(tables.map((table) => kit.db.selectFrom(table).selectAll().execute()));
  expect(told(JSON.stringify(rows))).toEqual([]);
});
