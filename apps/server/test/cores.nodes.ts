import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { LoadProcess } from "../src/roles/capacity/load-process.ts";
import { commandOf } from "../src/roles/capacity/process-cost.ts";
import { serverCost } from "../src/roles/capacity/server-cost.ts";
import { renditionUrl, untilListed } from "./support/live-renditions.ts";
import { figure } from "./support/nodes.ts";
import { familyOf } from "./support/process-family.ts";
import { type Publisher, startPublisher } from "./support/publisher.ts";
import { freePort, WeirProcess } from "./support/weir-process.ts";

/** Of the CPU of viewers. */
const ROUNDS = 3;
const SETTLED_MS = 5_000;
const WATCHED_MS = 12_000;
const UNWATCHED_MS = 15_000;
/** A copy of a live window is kept for 30 s after its last viewer; some of them pass while the other server is watched. */
const FORGOTTEN_MS = 31_000 - SETTLED_MS - WATCHED_MS;

let weir: WeirProcess;
let metricsPort: number;
beforeAll(async () => {
  metricsPort = await freePort();
  weir = await WeirProcess.start({ env: { WEIR_MEDIA_PROCESSES: "2", WEIR_METRICS_PORT: String(metricsPort) } });
  await untilBothServe();
});
afterAll(() => weir?.[Symbol.asyncDispose]());
afterEach(({ task }) => {
  if (task.result?.state === "fail") process.stderr.write(weir.log.split("\n").slice(-40).join("\n"));
});

/** Over a connection of its own, so that any process may answer. */
function ask(url: string, agent: Agent | false = false): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
    });
    asked.on("error", reject).end();
  });
}

/** A request of an upload, over a connection of its own. */
function tus(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: Buffer | null = null,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (answer) => resolve(answer.resume()));
    asked.on("error", reject).end(body);
  });
}

/** A metric of each process, by its number. */
async function measured(name: string): Promise<ReadonlyMap<string, number>> {
  const { body } = await ask(`http://127.0.0.1:${metricsPort}/metrics`);
  const series = body.matchAll(new RegExp(`^${name}{process="(\\d+)"} (\\S+)$`, "gm"));
  return new Map(Array.from(series, ([, process = "", value]) => [process, Number(value)]));
}

/** A replaced process, or one of a start, takes some seconds longer than its server. */
async function untilBothServe(): Promise<void> {
  const areBoth = () =>
    measured("weir_publishers").then(
      (series) => series.has("1") && series.has("2"),
      () => false,
    );
  await vi.waitUntil(areBoth, { timeout: 30_000 });
}

async function untilPlayable(playbackId: string): Promise<void> {
  const isListed = async () => (await ask(weir.hlsUrl(playbackId))).body.includes("source/index.m3u8");
  await expect.poll(isListed, { timeout: 20_000 }).toBe(true);
  await untilListed(weir.hlsUrl(playbackId), "source", 2);
}

test("a stream that one process receives is served by both, under the server's one address, and the server is one node", async () => {
  const { playbackId, streamKey = "", id } = await weir.client.streams.create({ name: "cores", profiles: [] });
  const publisher = await startPublisher({ url: weir.publishUrl(streamKey), seconds: 300, bitrateBps: 300_000 });
  await untilPlayable(playbackId);
  const url = await renditionUrl(weir.hlsUrl(playbackId), "source");
  const before = await measured("weir_media_requests_total");
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(url)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const inits = answers.map(({ body }) => /URI="([^"]*init[^"]*)"/.exec(body)?.[1] ?? "none");
  expect(new Set(inits).size).toBe(1);
  const after = await measured("weir_media_requests_total");
  for (const [process, count] of after) expect(count - (before.get(process) ?? 0)).toBeGreaterThan(3);
  expect([...(await measured("weir_publishers")).values()].sort()).toEqual([0, 1]);
  expect((await weir.client.dashboard.settings()).nodes).toHaveLength(1);
  await publisher.stop();
  await expect.poll(async () => (await weir.client.streams.get(id)).isActive, { timeout: 20_000 }).toBe(false);
});

/** A low-latency viewer over a connection of its own, which asks for the part that is announced, and comes back after each error. */
class Viewer {
  /** When a part was first listed. */
  readonly newPartsAt: number[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #loop: Promise<void>;
  #isStopped = false;

  constructor(url: string) {
    this.#loop = this.#watch(url);
  }

  async #watch(url: string): Promise<void> {
    const seen = new Set<string>();
    let next = "";
    while (!this.#isStopped) {
      const { body } = await ask(`${url}${next}`, this.#agent).catch(() => ({ body: "" }));
      const [, msn, part] = /^#EXT-X-PRELOAD-HINT:TYPE=PART,URI="(\d+)\.(\d+)\.m4s/m.exec(body) ?? [];
      if (msn !== undefined) next = `?_HLS_msn=${msn}&_HLS_part=${part}`;
      const parts = Array.from(body.matchAll(/^#EXT-X-PART:.*URI="([^"]+)"/gm), ([, uri = ""]) => uri);
      if (parts.some((uri) => !seen.has(uri))) this.newPartsAt.push(Date.now());
      for (const uri of parts) seen.add(uri);
      await sleep(100);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#loop;
    this.#agent.destroy();
  }
}

/** An encoder that reconnects a second after it lost its connection. */
class Encoder {
  readonly playbackId: string;
  /** When the server last took its connection. */
  connectedAt = 0;
  readonly #url: string;
  #publisher: Publisher | null = null;
  #isStopped = false;

  private constructor(playbackId: string, url: string) {
    this.playbackId = playbackId;
    this.#url = url;
  }

  static async start(name: string): Promise<Encoder> {
    const { playbackId, streamKey = "" } = await weir.client.streams.create({ name, profiles: [] });
    const encoder = new Encoder(playbackId, weir.publishUrl(streamKey));
    await encoder.#connect();
    await untilPlayable(playbackId);
    return encoder;
  }

  async #connect(): Promise<void> {
    const publisher = await startPublisher({ url: this.#url, seconds: 600, bitrateBps: 300_000 });
    this.#publisher = publisher;
    this.connectedAt = Date.now();
    void publisher.ended.then(() => this.#reconnect());
  }

  async #reconnect(): Promise<void> {
    if (this.#isStopped) return;
    await sleep(1_000);
    await this.#connect().catch(() => this.#reconnect());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#publisher?.stop();
  }
}

/** Throws where there is none: to the system, process 0 is the group of whoever signals it. */
function processOf(number: number): number {
  const pid = familyOf(weir.pid).find((one) => commandOf(one).includes(`media-process-child.ts\0${number}\0`));
  if (pid === undefined) throw new Error(`the server has no media process ${number}`);
  return pid;
}

test("each process killed in turn, the first too: its encoders and viewers go on at the other, and it is replaced", async () => {
  const encoders: Encoder[] = [];
  onTestFinished(async () => void (await Promise.all(encoders.map((encoder) => encoder.stop()))));
  const publishers = () => measured("weir_publishers");
  // Where a connection arrives is the kernel's choice.
  while (encoders.length < 2 || [...(await publishers()).values()].includes(0))
    encoders.push(await Encoder.start(`kill ${encoders.length}`));
  for (const number of [2, 1]) {
    const urls = await Promise.all(encoders.map(({ playbackId }) => renditionUrl(weir.hlsUrl(playbackId), "source")));
    const viewers = urls.flatMap((url, nth) =>
      [new Viewer(url), new Viewer(url)].map((viewer) => ({ viewer, encoder: encoders[nth] as Encoder })),
    );
    await expect.poll(() => Math.min(...viewers.map(({ viewer }) => viewer.newPartsAt.length))).toBeGreaterThan(2);
    const pid = processOf(number);
    const lost = (await publishers()).get(String(number)) ?? 0;
    const killedAt = Date.now();
    process.kill(pid, "SIGKILL");
    const areBack = () => encoders.filter(({ connectedAt }) => connectedAt > killedAt).length;
    await expect.poll(areBack, { timeout: 30_000 }).toBe(lost);
    // An encoder takes its own time to come back; a stream of the other process has not lost its.
    const waits = viewers.map(async ({ viewer, encoder }) => {
      const from = Math.max(killedAt, encoder.connectedAt);
      const firstNew = () => viewer.newPartsAt.find((time) => time > from);
      await expect.poll(firstNew, { timeout: 10_000 }).toBeDefined();
      return (firstNew() ?? Number.NaN) - from;
    });
    const longest = Math.max(...(await Promise.all(waits)));
    figure(`process ${number} killed: from an encoder's return to a new part for a viewer, at most, in ms`, longest);
    expect(longest).toBeLessThan(2_000);
    await untilBothServe();
    expect(processOf(number)).not.toBe(pid);
    await Promise.all(viewers.map(({ viewer }) => viewer.stop()));
  }
});

test("50 publishers and a connection a viewer: each process has its share, and every viewer of every stream is served, also by WHEP", async () => {
  const streams = await Promise.all(
    Array.from({ length: 50 }, (_, n) => weir.client.streams.create({ name: `spread ${n}`, profiles: [] })),
  );
  const load = new LoadProcess();
  await load.order({ type: "publish", urls: streams.map(({ streamKey = "" }) => weir.publishUrl(streamKey)) });
  for (const { playbackId } of streams) await load.order({ type: "watch", url: weir.hlsUrl(playbackId), count: 1 });
  const shares = new Map<string, number>();
  for (const name of ["weir_publishers", "weir_http_connections"])
    for (const [process, count] of await measured(name)) shares.set(process, (shares.get(process) ?? 0) + count);
  const all = [...shares.values()].reduce((sum, count) => sum + count, 0);
  figure("publishers and connections of viewers at each process", [...shares.values()].join(", "));
  for (const count of shares.values()) expect([count / all > 0.3, count / all < 0.7]).toEqual([true, true]);
  for (const { playbackId } of streams.slice(0, 20))
    await load.order({ type: "whep", url: weir.webrtcUrl(playbackId), count: 1 });
  const webrtc = await measured("weir_webrtc_viewers");
  figure("viewers over WebRTC at each process", [...webrtc.values()].join(", "));
  expect([...webrtc.values()].reduce((sum, count) => sum + count, 0)).toBe(20);
  await sleep(5_000);
  expect((await load.order({ type: "counts" })).failures).toEqual([]);
  await load.stop();
});

/** A server that is measured with viewers and without, in turns with another one. */
class MeasuredServer implements AsyncDisposable {
  readonly #server: WeirProcess;
  readonly #streams: readonly Stream[];
  /** Cores, with publishers and without viewers. */
  #unwatched = Number.NaN;

  private constructor(server: WeirProcess, streams: readonly Stream[]) {
    this.#server = server;
    this.#streams = streams;
  }

  static async start(processes: string): Promise<MeasuredServer> {
    const server = await WeirProcess.start({
      env: { WEIR_MEDIA_PROCESSES: processes, WEIR_CONNECTIONS_PER_CLIENT: "20000" },
    });
    const made = Array.from({ length: 10 }, (_, n) =>
      server.client.streams.create({ name: `cost ${n}`, profiles: [] }),
    );
    return new MeasuredServer(server, await Promise.all(made));
  }

  get publishUrls(): string[] {
    return this.#streams.map(({ streamKey = "" }) => this.#server.publishUrl(streamKey));
  }

  async measureUnwatched(): Promise<void> {
    this.#unwatched = (await serverCost(this.#server.pid, () => sleep(UNWATCHED_MS))).cores;
  }

  /**
   * Microseconds of CPU for a request, of so many viewers of each stream. Each viewer asks as often as the stream has parts, but on a machine that is
   * too busy, so viewers are compared by their requests.
   */
  async costOfRequest(count: number): Promise<number> {
    const viewers = new LoadProcess();
    for (const { playbackId } of this.#streams)
      await viewers.order({ type: "watch", url: this.#server.hlsUrl(playbackId), count });
    await sleep(SETTLED_MS);
    const before = await viewers.order({ type: "counts" });
    const since = performance.now();
    const { cores } = await serverCost(this.#server.pid, () => sleep(WATCHED_MS));
    const { requests, failures } = await viewers.order({ type: "counts" });
    const perSecond = ((requests - before.requests) * 1_000) / (performance.now() - since);
    await viewers.stop();
    expect(failures).toEqual([]);
    return ((cores - this.#unwatched) / perSecond) * 1e6;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

test("10 publishers and 400 low-latency viewers cost hardly more CPU in two processes than in one", async () => {
  await using one = await MeasuredServer.start("1");
  await using two = await MeasuredServer.start("2");
  const publishers = new LoadProcess();
  await publishers.order({ type: "publish", urls: [...one.publishUrls, ...two.publishUrls] });
  // What a server compiles at first is no viewer's cost.
  for (const server of [two, one]) await server.costOfRequest(40);
  await sleep(FORGOTTEN_MS);
  await Promise.all([one.measureUnwatched(), two.measureUnwatched()]);
  const rounds: { readonly one: number; readonly half: number; readonly two: number }[] = [];
  while (rounds.length < ROUNDS)
    rounds.push({
      one: await one.costOfRequest(40),
      two: await two.costOfRequest(40),
      // As many as each of the two has.
      half: await one.costOfRequest(20),
    });
  await publishers.stop();
  for (const of of ["one", "half", "two"] as const)
    figure(`microseconds of CPU for a request, ${of}`, rounds.map((round) => round[of].toFixed(1)).join(", "));
  const ratio = median(rounds.map((round) => round.two / round.one));
  figure(
    "two processes in relation to one, and to one with half the viewers",
    `${ratio}, ${median(rounds.map((round) => round.two / round.half))}`,
  );
  expect(ratio).toBeLessThan(1.1);
}, 600_000);

test("SIGTERM ends all processes, and their spools are empty", async () => {
  const { playbackId, streamKey = "" } = await weir.client.streams.create({ name: "ends", profiles: [], record: true });
  const publisher = await startPublisher({ url: weir.publishUrl(streamKey), seconds: 300, bitrateBps: 300_000 });
  await untilPlayable(playbackId);
  expect(await weir.stop()).toBe(0);
  await publisher.kill();
  const spools = [weir.dataFolder, join(weir.dataFolder, "processes/2")].map((folder) =>
    readdir(join(folder, "spool")),
  );
  expect((await Promise.all(spools)).flat()).toEqual([]);
  await weir.restart();
});

test("SIGTERM ends a server in time of which a process hangs", async () => {
  await untilBothServe();
  process.kill(processOf(2), "SIGSTOP");
  const since = Date.now();
  expect(await weir.stop()).toBe(0);
  expect(Date.now() - since).toBeLessThan(9_500);
  await weir.restart();
});

test("an upload to a process that is started no more goes on at the first one", async () => {
  await untilBothServe();
  const uploads = join(weir.dataFolder, "processes/2/uploads");
  const bytes = randomBytes(200_000);
  const half = bytes.byteLength / 2;
  const headers = { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream" };
  let id = "";
  let url = "";
  // Where a connection arrives is the kernel's choice.
  while (id === "" || !(await readdir(uploads)).includes(`${id}.bytes`)) {
    const { tusEndpoint, asset } = await weir.client.assets.requestUpload({ name: "film" });
    const created = await tus(tusEndpoint, "POST", { ...headers, "upload-length": String(bytes.byteLength) });
    id = asset.id;
    url = new URL(String(created.headers.location), weir.url).href;
  }
  const send = (offset: number, body: Buffer) =>
    tus(url, "PATCH", { ...headers, "upload-offset": String(offset) }, body);
  expect((await send(0, bytes.subarray(0, half))).statusCode).toBe(204);
  expect(await weir.stop()).toBe(0);
  await weir.restart({ env: { WEIR_MEDIA_PROCESSES: "1" } });
  expect((await tus(url, "HEAD", headers)).headers["upload-offset"]).toBe(String(half));
  expect((await send(half, bytes.subarray(half))).statusCode).toBe(204);
  const stored = () => weir.client.assets.get(id).then(({ size }) => size);
  await expect.poll(stored).toBe(bytes.byteLength);
  expect(await weir.stop()).toBe(0);
  await weir.restart({ env: { WEIR_MEDIA_PROCESSES: "2" } });
});

test("a parent that is killed takes all processes and the database with it, and the next start has the data", async () => {
  const pids = familyOf(weir.pid);
  expect(pids.length).toBeGreaterThan(4);
  await weir.kill();
  await expect.poll(() => pids.map(commandOf).filter((command) => command !== ""), { timeout: 15_000 }).toEqual([]);
  await weir.restart();
  const streams = await weir.client.streams.list();
  expect(streams.items.length).toBeGreaterThan(0);
});
