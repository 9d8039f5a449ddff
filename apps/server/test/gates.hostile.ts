import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { AccessWebhook } from "./support/access-webhook.ts";
import { openArena } from "./support/arena.ts";
import { ask, openSockets, pipeline } from "./support/attacker.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { measured } from "./support/bystander.ts";
import { childOf, startGatedBroadcast, TokenSigner } from "./support/gated-broadcast.ts";

const REFRESH_SECONDS = 5;
/** Longer than a decision is valid in any cache; afterwards only the grace period applies. */
const SILENCE_MS = 30_000;
const arena = openArena({ env: { WEIR_ALLOW_PRIVATE_URLS: "1", WEIR_RATE_LIMIT: "0" } });

async function startHookedBroadcast(customer: AccessWebhook) {
  const { id: webhookId } = await arena.weir.client.webhooks.create({
    name: "gate",
    url: customer.url,
    events: ["playback.accessControl"],
  });
  const playbackPolicy = { type: "webhook", webhookId, refreshInterval: REFRESH_SECONDS } as const;
  return startBroadcast(arena.weir, { seconds: 120, stream: { profiles: [], playbackPolicy } });
}

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

/** Requests the URL until it is refused. */
const untilRefused = (url: string) => expect.poll(() => statusOf(url), { timeout: 30_000 }).toBe(401);

test("a refused viewer stays refused when the webhook stops responding and the server restarts", async (context) => {
  const { weir } = arena;
  const customer = await AccessWebhook.start();
  customer.allowed.add("alice");
  await using broadcast = await startHookedBroadcast(customer);
  const address = await childOf(`${broadcast.hlsUrl}?accessKey=alice`);
  expect(await statusOf(address)).toBe(200);
  customer.allowed.delete("alice");
  await untilRefused(address);
  await customer[Symbol.asyncDispose]();
  await weir.kill();
  await broadcast.publisher.kill();
  await weir.restart();
  await broadcast.publish();
  await broadcast.untilState("live");
  const statuses = [await statusOf(address), await statusOf(`${broadcast.hlsUrl}?accessKey=alice`)];
  measured(context, `old address ${statuses[0]}, newcomer ${statuses[1]}`);
  expect(statuses).toEqual([401, 401]);
});

test("thousands of invented access keys do not prevent the webhook from refusing a viewer", async (context) => {
  const { weir } = arena;
  await using customer = await AccessWebhook.start();
  customer.allowed.add("alice");
  await using broadcast = await startHookedBroadcast(customer);
  const address = await childOf(`${broadcast.hlsUrl}?accessKey=alice`);
  expect(await statusOf(address)).toBe(200);
  customer.allowed.delete("alice");
  const { pathname } = new URL(broadcast.hlsUrl);
  // One connection each, since requests of a connection are handled one at a time.
  const sockets = await openSockets(weir.httpPort, 1_900);
  for (const socket of sockets) {
    const paths = Array.from({ length: 3 }, () => `${pathname}?accessKey=${randomBytes(9).toString("hex")}`);
    void pipeline(socket, paths);
  }
  const startedAt = performance.now();
  await untilRefused(address);
  measured(context, `refused after ${Math.round(performance.now() - startedAt)} ms of a flood of 5,700 keys`);
  for (const socket of sockets) socket.destroy();
});

test("when a webhook stops responding, admitted viewers continue, and no new ones are admitted", async (context) => {
  const customer = await AccessWebhook.start();
  for (const key of ["alice", "bob"]) customer.allowed.add(key);
  await using broadcast = await startHookedBroadcast(customer);
  const [alice, bob] = [
    await childOf(`${broadcast.hlsUrl}?accessKey=alice`),
    await childOf(`${broadcast.hlsUrl}?accessKey=bob`),
  ];
  customer.allowed.delete("bob");
  expect(await statusOf(alice)).toBe(200);
  await untilRefused(bob);
  await customer[Symbol.asyncDispose]();
  const startedAt = performance.now();
  while (performance.now() - startedAt < SILENCE_MS) {
    expect(await Promise.all([alice, bob, `${broadcast.hlsUrl}?accessKey=alice`].map(statusOf))).toEqual([
      200, 401, 401,
    ]);
    await wait(1000);
  }
  measured(context, `${SILENCE_MS / 1000} s of silence with a refresh every ${REFRESH_SECONDS} s`);
});

test("every webhook response other than 2xx ends access", async (context) => {
  for (const status of [500, 503, 429, 408, 425, 302]) {
    await using customer = await AccessWebhook.start();
    customer.allowed.add("alice");
    await using broadcast = await startHookedBroadcast(customer);
    const address = await childOf(`${broadcast.hlsUrl}?accessKey=alice`);
    expect(await statusOf(address)).toBe(200);
    customer.refusal = status;
    customer.allowed.delete("alice");
    await untilRefused(address);
    measured(context, String(status));
  }
});

test("a restricted key and a web page key cannot sign in and reach no other project", async () => {
  const { weir } = arena;
  const secret = await weir.client.streams.create({ name: "secret" });
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(weir.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-weir-request": "1", ...headers },
      body: JSON.stringify(body),
    });
  const signedIn = await post("/api/dashboard/sign-in", { apiKey: weir.apiKey });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const { id: projectId } = (await (await post("/api/project", { name: "B" }, { cookie })).json()) as { id: string };
  for (const access of [
    { rules: [{ resources: ["*"], methods: ["get"] }] },
    { cors: { allowedOrigins: ["https://shop.example"], fullAccess: true } },
  ]) {
    const made = await post(`/api/api-token?projectId=${projectId}`, { name: "attacker", access }, { cookie });
    const { key } = (await made.json()) as { key: string };
    const attempt = await post("/api/dashboard/sign-in", { apiKey: key });
    expect([attempt.status, attempt.headers.getSetCookie()]).toEqual([403, []]);
    const { status } = await fetch(`${weir.url}/api/stream/${secret.id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(status).toBe(404);
  }
});

test("a URL in another spelling is refused when an edge asks about it", async (context) => {
  const { weir } = arena;
  await using open = await startBroadcast(weir, { stream: { profiles: [] } });
  await using gated = await startGatedBroadcast(weir, { stream: { profiles: [] } });
  const jwt = await (await TokenSigner.create(weir)).sign(gated.stream.playbackId);
  const child = new URL(await childOf(`${gated.hlsUrl}?jwt=${jwt}`)).pathname;
  const target = child.replace(/\/s\/[^/]+/, "/s/-");
  const own = `/hls/${open.stream.playbackId}/s/-`;
  const up = "../".repeat(5);
  const spellings = [
    `${own}/a/b/${encodeURIComponent(up.slice(0, -1)).replaceAll(".", "%2e")}${encodeURIComponent(target)}`,
    `${own}/a/b/${up.replaceAll("/", "%2f")}${target.slice(1).replaceAll("/", "%2f")}`,
    `${own}/a/b/${up}${target.slice(1)}`,
    `${own}/a/b/..\\..\\..\\..\\..${target.replaceAll("/", "\\")}`,
    `${own}//${target}`,
    `${own}/./${target}`,
    `${own}/a/b/%252e%252e%252f${target.slice(1).replaceAll("/", "%252f")}`,
    `${own}/a/b/1.m4s`,
    `${own}${target.slice(target.indexOf("/s/-") + 4)}`,
    target,
    target.replace("hls", "%68ls"),
  ];
  for (const spelling of spellings) {
    const { status } = await ask(weir.httpPort, "/hls/authorize", { headers: { "x-original-uri": spelling } });
    expect([spelling, status >= 400 && status < 500]).toEqual([spelling, true]);
  }
  measured(context, `${spellings.length} spellings`);
});
