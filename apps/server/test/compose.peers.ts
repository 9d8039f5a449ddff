import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Stream, WeirClient } from "@weir/client";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startTemporaryPostgres, type TemporaryPostgres } from "../src/platform/postgres/temporary-postgres-rig.ts";
import { startS3TestServer } from "../src/platform/storage/s3-test-server.ts";
import { Haproxy, missingBalancers, NginxBalancer } from "./support/balancers.ts";
import { NameCollector } from "./support/name-collector.ts";
import { figure } from "./support/nodes.ts";
import { startPublisher } from "./support/publisher.ts";
import { freePort, WeirProcess } from "./support/weir-process.ts";
import { PRESET_API_KEY } from "./support/weir-server.ts";

/** As encoders do after they lose their connection. */
const RECONNECT_AFTER_MS = 1_000;
/** From the loss of a node to new media, with the encoder's own second and its start on a busy machine. */
const MAX_FREEZE_MS = 12_000;
const FFMPEG =
  "-re -f lavfi -i testsrc2=size=320x180:rate=30 -f lavfi -i sine=frequency=440:sample_rate=48000 -c:v libx264 -preset ultrafast -g 60 -pix_fmt yuv420p -c:a aac -f mpegts";

const nodes = {} as Record<"weir-a" | "weir-b", { weir: WeirProcess; srtPort: number }>;
const closing = new AsyncDisposableStack();
let postgres: TemporaryPostgres;
let haproxy: Haproxy;
let nginx: NginxBalancer;
let client: WeirClient;

beforeAll(async () => {
  if (missingBalancers !== null) return;
  postgres = await startTemporaryPostgres();
  closing.defer(() => postgres.close());
  const s3 = await startS3TestServer();
  closing.defer(() => s3.close());
  const { host, user, database } = postgres.address;
  const ports = { http: await freePort(), rtmp: await freePort() };
  for (const name of ["weir-a", "weir-b"] as const) {
    const srtPort = await freePort();
    const weir = await WeirProcess.start({
      env: {
        ...s3.env,
        DATABASE_URL: `postgres://${user}@localhost/${database}?host=${host}`,
        WEIR_CLUSTER_ADDRESS: "127.0.0.1:0",
        WEIR_TRUSTED_PROXIES: "127.0.0.1",
        WEIR_PUBLIC_URL: `http://127.0.0.1:${ports.http}`,
        WEIR_RECONNECT_WINDOW_MS: "60000",
        WEIR_SRT_PORT: String(srtPort),
      },
    });
    closing.use(weir);
    nodes[name] = { weir, srtPort };
  }
  haproxy = closing.use(await Haproxy.start(nodes, ports));
  nginx = closing.use(await NginxBalancer.start(nodes));
  client = new WeirClient({ baseUrl: haproxy.url, apiKey: PRESET_API_KEY, maxRetries: 0 });
}, 120_000);
afterAll(() => closing.disposeAsync());

interface Running {
  readonly ended: Promise<unknown>;
  kill(): Promise<void>;
}

/** An encoder that connects again whenever it is cut off, until the test is over. */
function keepPublishing(start: () => Promise<Running>): { stop(): Promise<void> } {
  let [isOver, current] = [false, null as Running | null];
  const run = (async () => {
    while (!isOver) {
      current = await start().catch(() => null);
      if (isOver) await current?.kill();
      await current?.ended;
      if (!isOver) await sleep(RECONNECT_AFTER_MS);
    }
  })();
  const stop = async (): Promise<void> => {
    isOver = true;
    await current?.kill();
    await run;
  };
  onTestFinished(stop);
  return { stop };
}

async function overSrt({ streamKey }: Stream): Promise<Running> {
  const url = `srt://127.0.0.1:${nginx.srtPort}?streamid=${streamKey}`;
  const child = spawn("/usr/bin/ffmpeg", [...FFMPEG.split(" "), url], { stdio: "ignore" });
  const ended = once(child, "exit");
  return {
    ended,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The node that has a stream, by the name in its data folder. */
async function ownerOf({ id }: Stream): Promise<"weir-a" | "weir-b"> {
  const db = new pg.Client(postgres.address);
  await db.connect();
  const { rows } = await db.query<{ name: string }>(
    "select n.name from stream s join node n on n.id = s.node_id where s.id = $1",
    [id],
  );
  await db.end();
  const nameOf = (node: "weir-a" | "weir-b") =>
    readFileSync(join(nodes[node].weir.dataFolder, "node-name"), "utf8").trim();
  return nameOf("weir-a") === rows[0]?.name ? "weir-a" : "weir-b";
}

const stateOf = async ({ id }: Stream) => (await client.streams.get(id)).status.state;

interface Failure {
  readonly path: string;
  readonly problem: string;
  readonly at: number;
}

/** Requests of new viewers and of an API client through the balancer, until the test is over. */
function keepAsking(stream: Stream): { readonly failures: Failure[]; readonly count: () => number } {
  const failures: Failure[] = [];
  const fail = (path: string, problem: string): void => void failures.push({ path, problem, at: Date.now() });
  let [isOver, count] = [false, 0];
  const ask = async (path: string): Promise<void> => {
    const headers = { authorization: `Bearer ${PRESET_API_KEY}` };
    const answer = await fetch(`${haproxy.url}${path}`, { headers, signal: AbortSignal.timeout(10_000) });
    await answer.arrayBuffer();
    if (!answer.ok) fail(path, String(answer.status));
  };
  const run = (async () => {
    for (; !isOver; count++) {
      for (const path of [`/hls/${stream.playbackId}/index.m3u8`, `/api/stream/${stream.id}`])
        await ask(path).catch((error: Error) => fail(path, error.message));
      await sleep(100);
    }
  })();
  onTestFinished(async () => {
    isOver = true;
    await run;
  });
  return { failures, count: () => count };
}

/** Publishes, watches, kills the owner, and watches on. */
async function throughAKill(stream: Stream, start: () => Promise<Running>, lossMs: number): Promise<void> {
  const encoder = keepPublishing(start);
  await expect.poll(() => stateOf(stream), { timeout: 40_000 }).toBe("live");
  const seen = new NameCollector([{ node: "balancer", hlsUrl: `${haproxy.url}/hls/${stream.playbackId}/index.m3u8` }]);
  onTestFinished(() => seen.stop());
  const newest = () => Math.max(0, ...seen.lists.map(({ lastMsn }) => lastMsn));
  await expect.poll(newest, { timeout: 30_000 }).toBeGreaterThan(2);
  const before = newest();
  const sessionId = (await client.streams.get(stream.id)).status.sessionId;
  const owner = await ownerOf(stream);
  const asked = keepAsking(stream);
  const killedAt = Date.now();
  await nodes[owner].weir.kill();
  await expect.poll(newest, { timeout: MAX_FREEZE_MS + lossMs, interval: 50 }).toBeGreaterThan(before + 1);
  const recoveredAt = Date.now();
  figure("new media after the kill", `${recoveredAt - killedAt} ms`);
  const { status } = await client.streams.get(stream.id);
  expect(status.sessionId).toBe(sessionId);
  expect(await ownerOf(stream)).not.toBe(owner);
  await nodes[owner].weir.restart();
  expect(asked.count()).toBeGreaterThan(10);
  // New viewers of a stream without an owner are told to try again, unless the node has a copy.
  const told = asked.failures.filter(({ path, problem }) => path.startsWith("/hls/") && problem === "503");
  figure("new viewers told to try again", told.length);
  expect(asked.failures.filter((failure) => !told.includes(failure))).toEqual([]);
  expect(told.filter(({ at }) => at > recoveredAt)).toEqual([]);
  await encoder.stop();
  await seen.stop();
  expect(seen.clashes).toEqual([]);
  expect(seen.lists.filter(({ hasEnded, at }) => hasEnded && at < killedAt + MAX_FREEZE_MS)).toEqual([]);
}

describe.skipIf(missingBalancers !== null)(
  `two nodes behind the balancers of deploy/${missingBalancers ? `: ${missingBalancers}` : ""}`,
  () => {
    test("HAProxy: an encoder publishes over RTMP; its node is killed; it reconnects at the other, and viewers watch on in the same session", async () => {
      const stream = await client.streams.create({ name: "rtmp", profiles: [], record: true });
      const url = `rtmp://127.0.0.1:${haproxy.rtmpPort}/live/${stream.streamKey}`;
      await throughAKill(stream, () => startPublisher({ url, seconds: 300, bitrateBps: 300_000 }), 0);
    }, 180_000);

    test("nginx: the same over SRT, which a client notices after 5 s", async () => {
      const stream = await client.streams.create({ name: "srt", profiles: [], record: true });
      await throughAKill(stream, () => overSrt(stream), 12_000);
    }, 180_000);

    test("a node that drains is left out before it goes; while the database is away, publishers and API calls find no node, and viewers do", async () => {
      const stream = await client.streams.create({ name: "ready", profiles: [] });
      const url = `rtmp://127.0.0.1:${haproxy.rtmpPort}/live/${stream.streamKey}`;
      keepPublishing(() => startPublisher({ url, seconds: 300, bitrateBps: 300_000 }));
      await expect.poll(() => stateOf(stream), { timeout: 40_000 }).toBe("live");
      const list = `${haproxy.url}/hls/${stream.playbackId}/index.m3u8`;
      const text = async () => (await fetch(list)).text();
      await expect.poll(text, { timeout: 20_000 }).toContain("/source/index.m3u8");
      const address = new URL(/^s\/.*\/source\/index\.m3u8$/m.exec(await text())?.[0] ?? "", list).href;

      const asked = keepAsking(stream);
      const drained = (await ownerOf(stream)) === "weir-a" ? "weir-b" : "weir-a";
      await nodes[drained].weir.stop();
      const until = asked.count() + 10;
      await expect.poll(asked.count, { timeout: 20_000 }).toBeGreaterThan(until);
      expect(asked.failures).toEqual([]);
      await nodes[drained].weir.restart();
      // A node that has never been asked for the stream has not read who may watch it, and cannot read it without the database.
      const { origin } = new URL(nodes[drained].weir.url);
      await expect.poll(async () => (await fetch(address.replace(haproxy.url, origin))).status).toBe(200);

      await postgres.stop();
      onTestFinished(() => postgres.start());
      const statusOf = async (path: string, method = "GET") =>
        (await fetch(`${haproxy.url}${path}`, { method })).status;
      // Each list of nodes is checked at moments of its own.
      for (const backend of ["weir_rtmp", "weir_api", "weir_publish"])
        await expect.poll(() => haproxy.log, { timeout: 20_000 }).toContain(`'${backend}' has no server available!`);
      expect(haproxy.log).not.toMatch(/'weir_watch' has no server available!/);
      expect(await statusOf("/api/stream")).toBe(503);
      expect(await statusOf(`/webrtc/${stream.streamKey}`, "POST")).toBe(503);
      const msn = async () => Number((await (await fetch(address)).text()).match(/^\d+(?=\.m4s$)/gm)?.at(-1) ?? 0);
      const before = await msn();
      await expect.poll(msn, { timeout: 20_000 }).toBeGreaterThan(before + 1);
      await postgres.start();
      await expect.poll(() => statusOf(`/api/playback/${stream.playbackId}`), { timeout: 20_000 }).toBe(200);
      await expect.poll(() => stateOf(stream), { timeout: 20_000 }).toBe("live");
    }, 180_000);

    test("nginx alone: an encoder publishes over RTMP, a viewer watches, and both go on when a node is killed", async () => {
      const stream = await client.streams.create({ name: "nginx", profiles: [] });
      const url = `rtmp://127.0.0.1:${nginx.rtmpPort}/live/${stream.streamKey}`;
      keepPublishing(() => startPublisher({ url, seconds: 300, bitrateBps: 300_000 }));
      const hlsUrl = `http://127.0.0.1:${nginx.httpPort}/hls/${stream.playbackId}/index.m3u8`;
      const seen = new NameCollector([{ node: "nginx", hlsUrl }]);
      onTestFinished(() => seen.stop());
      const newest = () => Math.max(0, ...seen.lists.map(({ lastMsn }) => lastMsn));
      await expect.poll(newest, { timeout: 40_000 }).toBeGreaterThan(2);
      const [owner, before] = [await ownerOf(stream), newest()];
      await nodes[owner].weir.kill();
      await expect.poll(newest, { timeout: MAX_FREEZE_MS, interval: 50 }).toBeGreaterThan(before + 1);
      await nodes[owner].weir.restart();
      expect(seen.clashes).toEqual([]);
    }, 120_000);
  },
);
