import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import {
  fetchBytes,
  fragmentStartMs,
  newestPart,
  videoPlaylistUrl,
} from "../../apps/server/src/roles/capacity/hls-reader.ts";
import { cpuDuring, residentBytes } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import { makeLonger } from "../../apps/server/test/support/long-session.ts";
import { type BenchServer, type Profiles, withServer } from "./bench-server.ts";
import { median, percentile, type Row } from "./report.ts";
import { fetchCompressed } from "./rewind-viewers.ts";
import { Inspector } from "./server-counts.ts";
import type { Ask, Told, Watching } from "./viewers-child.ts";

const SEGMENTS = (12 * 3600) / 2;
const SECONDS = 10;
const ROUNDS = 3;
const SETTLED_MS = 3_000;
/** With the source and its sound, four renditions. Small, since their encoders share the machine. */
const PROFILES: Profiles = [
  { name: "small", width: 320, height: 180, bitrate: 200_000, fps: 15 },
  { name: "smaller", width: 256, height: 144, bitrate: 100_000, fps: 15 },
];
const RENDITIONS = PROFILES.length + 2;
const RECORDED_MS = 12_000;
const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

type Kind = "nobody" | Watching["kind"];
const KINDS: readonly Kind[] = ["nobody", "live", "rewind"];
const nameOf = (kind: Kind, count: number): string =>
  ({ nobody: "no viewers", live: `${count} live viewers`, rewind: `${count} viewers over 12 hours` })[kind];

/** Code for the server: looks every millisecond. */
const WATCH_LOOP = `globalThis.benchLoop = process.getBuiltinModule("node:perf_hooks").monitorEventLoopDelay({ resolution: 1 }), benchLoop.enable() ? 1 : 0`;
/**
 * Code for the server: the longest turn of its event loop in milliseconds of CPU since the last time, which other work on the machine does not lengthen.
 * Keeps a core busy until it is told.
 */
const WATCH_TURNS = `(() => {
  const watch = globalThis.benchTurns = { longest: 0, isOn: true };
  let last = process.threadCpuUsage();
  const look = () => {
    const now = process.threadCpuUsage();
    watch.longest = Math.max(watch.longest, (now.user + now.system - last.user - last.system) / 1000);
    last = now;
    if (watch.isOn) setImmediate(look);
  };
  look();
  return 0;
})()`;
const LONGEST_TURN = `(() => { benchTurns.isOn = false; return benchTurns.longest; })()`;
/** Code for the server: milliseconds, since the last time. */
const LONGEST_STOP = `(() => { const ms = benchLoop.max / 1e6; benchLoop.reset(); return ms; })()`;

/** Viewers who go back in a session of 12 hours, compared with viewers of its live edge. Tells each figure as soon as it has it. */
export async function measureRewind(
  folder: string,
  clip: Clip,
  viewers: number,
  tell: (...rows: Row[]) => void,
): Promise<void> {
  const options = { env: { WEIR_RECONNECT_WINDOW_MS: String(10 * 60_000) }, inspect: true };
  const stream = await withServer(folder, (server) => beginSession(server, clip), options);
  tell({
    what: "rewind: longest turn while a session begins without earlier hours, CPU",
    value: stream.turn,
    unit: "ms",
  });
  const measure = async (server: BenchServer): Promise<void> => {
    await makeLonger(folder, stream.sessionId, SEGMENTS);
    const session = await LongSession.open(server, stream, clip);
    try {
      tell(...(await session.measureLists()));
      tell(...(await session.measureViewers(viewers)));
    } finally {
      await session.close();
    }
  };
  return withServer(folder, measure, options);
}

interface RecordedStream {
  readonly sessionId: string;
  readonly playbackId: string;
  readonly streamKey: string;
  /** The longest of the event loop while it began, in milliseconds of CPU. */
  readonly turn: number;
}

/** A recorded session of some seconds, which is left open: the server is killed. */
async function beginSession(server: BenchServer, clip: Clip): Promise<RecordedStream> {
  const { streamKey = "", playbackId } = await server.client.streams.create({
    name: "rewind",
    profiles: PROFILES,
    record: true,
    dvr: "session",
  });
  const inspector = await Inspector.open(server.inspectorUrl);
  await inspector.evaluate(WATCH_TURNS);
  const sender = await RtmpSender.start(server.publishUrl(streamKey), clip);
  const folders = await until("lists of all renditions", async () => {
    const found = await listFolders(server, playbackId);
    return found.length >= RENDITIONS ? found : null;
  });
  const turn = await inspector.evaluate(LONGEST_TURN);
  inspector.close();
  await wait(RECORDED_MS);
  await server.kill();
  await sender.stop();
  const [sessionId = ""] = /(?<=\/s\/[^/]+\/)[^/]+/.exec(folders[0] ?? "") ?? [];
  return { streamKey, playbackId, sessionId, turn };
}

/** A session of 12 hours that is live. */
class LongSession {
  readonly #server: BenchServer;
  readonly #sender: RtmpSender;
  readonly #hlsUrl: string;
  readonly #inspector: Inspector;
  /** Addresses of its renditions, the video of the source first. */
  readonly #folders: readonly string[];
  readonly #loading: number;

  private constructor(
    server: BenchServer,
    sender: RtmpSender,
    inspector: Inspector,
    of: { readonly hlsUrl: string; readonly folders: readonly string[]; readonly loading: number },
  ) {
    this.#server = server;
    this.#sender = sender;
    this.#inspector = inspector;
    this.#hlsUrl = of.hlsUrl;
    this.#folders = of.folders;
    this.#loading = of.loading;
  }

  static async open(
    server: BenchServer,
    { streamKey, playbackId, sessionId }: RecordedStream,
    clip: Clip,
  ): Promise<LongSession> {
    const inspector = await Inspector.open(server.inspectorUrl);
    await inspector.evaluate(WATCH_LOOP);
    await inspector.evaluate(WATCH_TURNS);
    const sender = await RtmpSender.start(server.publishUrl(streamKey), clip);
    const folders = await until("lists of twelve hours", async () => {
      const found = await listFolders(server, playbackId);
      return found.length >= RENDITIONS ? found : null;
    });
    if (!folders[0]?.includes(sessionId)) throw new Error(`session ${sessionId} did not go on: ${folders[0]}`);
    const loading = await inspector.evaluate(LONGEST_STOP);
    const hlsUrl = `${server.url}/hls/${playbackId}/index.m3u8`;
    return new LongSession(server, sender, inspector, { hlsUrl, folders, loading });
  }

  /** Lists of all renditions, while nobody else asks. */
  async measureLists(): Promise<Row[]> {
    const [whole, deltas]: [number[], number[]] = [[], []];
    for (const folder of this.#folders) {
      const { body, sentBytes } = await fetchCompressed(`${folder}dvr.m3u8`);
      if (!body.includes(`\nd${SEGMENTS}.m4s`)) throw new Error(`${folder} does not have the session of 12 hours`);
      whole.push(sentBytes);
    }
    const stopped = await this.#inspector.evaluate(LONGEST_STOP);
    const turn = await this.#inspector.evaluate(LONGEST_TURN);
    for (const folder of this.#folders)
      deltas.push((await fetchCompressed(`${folder}dvr.m3u8?_HLS_skip=YES`)).sentBytes);
    return [
      {
        what: `rewind: ${RENDITIONS} lists of 12 hours read after a restart, longest stop of the event loop`,
        value: this.#loading,
        unit: "ms",
      },
      {
        what: "rewind: the same lists asked for the first time, longest stop of the event loop",
        value: stopped,
        unit: "ms",
      },
      { what: "rewind: longest turn of the event loop in both, CPU", value: turn, unit: "ms" },
      { what: "rewind: whole list, gzip, largest", value: Math.max(...whole) / 1024, unit: "KiB" },
      { what: "rewind: delta update, gzip, largest", value: Math.max(...deltas) / 1024, unit: "KiB" },
    ];
  }

  /** In turns, so that what else the machine does changes all of them. */
  async measureViewers(count: number): Promise<Row[]> {
    const found = { nobody: [], live: [], rewind: [] } as Record<Kind, Measured[]>;
    for (let round = 0; round < ROUNDS; round++)
      for (const kind of KINDS) found[kind].push(await this.#measure(kind, count));
    const of = (kind: Kind, figure: keyof Measured) => median(found[kind].map((measured) => measured[figure]));
    const each = (kind: Kind) => ((of(kind, "cpu") - of("nobody", "cpu")) / count) * 1000;
    const rows = KINDS.flatMap((kind): Row[] => [
      { what: `rewind: ${nameOf(kind, count)}, CPU of the server`, value: of(kind, "cpu") * 100, unit: "% of a core" },
      { what: `rewind: ${nameOf(kind, count)}, requests`, value: of(kind, "requests"), unit: "per s" },
      {
        what: `rewind: ${nameOf(kind, count)}, age of live parts, 95th percentile`,
        value: of(kind, "age"),
        unit: "ms",
      },
      { what: `rewind: ${nameOf(kind, count)}, longest stop of the event loop`, value: of(kind, "stop"), unit: "ms" },
      { what: `rewind: ${nameOf(kind, count)}, memory of the server`, value: of(kind, "megabytes"), unit: "MB" },
    ]);
    return [
      ...rows,
      {
        what: "rewind: CPU of a viewer who goes back to that of a live viewer",
        value: each("rewind") / each("live"),
        unit: "times",
      },
      {
        what: "rewind: live parts later than with live viewers, 95th percentile",
        value: of("rewind", "age") - of("live", "age"),
        unit: "ms",
      },
    ];
  }

  async close(): Promise<void> {
    this.#inspector.close();
    await this.#sender.stop();
  }

  async #measure(kind: Kind, count: number): Promise<Measured> {
    const viewers = kind === "nobody" ? null : await ViewersProcess.start(this.#watching(kind, count));
    await wait(SETTLED_MS);
    await this.#inspector.evaluate(LONGEST_STOP);
    const before = (await viewers?.ask("count")) ?? 0;
    let ages: readonly number[] = [];
    const cpu = await cpuDuring([this.#server.pid], async () => {
      ages = await this.#partAges(SECONDS);
    });
    const requests = ((await viewers?.ask("count")) ?? 0) - before;
    const stop = await this.#inspector.evaluate(LONGEST_STOP);
    const megabytes = residentBytes(this.#server.pid) / 1e6;
    await viewers?.stop();
    return { cpu: cpu / SECONDS, requests: requests / SECONDS, age: percentile(ages, 0.95), stop, megabytes };
  }

  #watching(kind: Watching["kind"], count: number): Watching {
    const [folder = ""] = this.#folders;
    if (kind === "live") return { kind, hlsUrl: this.#hlsUrl, count };
    return { kind, listUrl: `${folder}dvr.m3u8`, lastMsn: SEGMENTS, count };
  }

  /** From when a part's first picture was sent until a viewer of the live edge has it, up to a constant: the session began long before. */
  async #partAges(seconds: number): Promise<readonly number[]> {
    const ages: number[] = [];
    const url = await videoPlaylistUrl(this.#hlsUrl);
    let next = newestPart((await fetchBytes(url)).body.toString());
    for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
      const { body } = await fetchBytes(`${url}?_HLS_msn=${next.msn}&_HLS_part=${next.nextPart}`);
      next = newestPart(body.toString());
      const part = await fetchBytes(new URL(next.uri, url).href);
      this.#firstMs ??= fragmentStartMs(part.body) - (part.at - this.#sender.startedAt);
      ages.push(part.at - this.#sender.startedAt - (fragmentStartMs(part.body) - this.#firstMs));
    }
    return ages;
  }

  /** Of a part's first picture at the first look. */
  #firstMs: number | null = null;
}

interface Measured {
  /** Cores. */
  readonly cpu: number;
  readonly requests: number;
  readonly age: number;
  readonly stop: number;
  readonly megabytes: number;
}

class ViewersProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(watching: Watching): Promise<ViewersProcess> {
    const viewers = new ViewersProcess(fork(new URL("./viewers-child.ts", import.meta.url), { stdio: "inherit" }));
    await viewers.ask(watching);
    return viewers;
  }

  /** Returns the requests so far. Throws if a viewer failed. */
  async ask(what: Watching | Ask): Promise<number> {
    this.#child.send(what);
    const [told] = (await once(this.#child, "message")) as [Told];
    if ("error" in told) throw new Error(told.error);
    return told.requests;
  }

  async stop(): Promise<void> {
    try {
      await this.ask("stop");
    } finally {
      this.#child.disconnect();
    }
  }
}

/** Addresses of the renditions that viewers can go back in, the video of the source first. */
async function listFolders(server: BenchServer, playbackId: string): Promise<readonly string[]> {
  const url = `${server.url}/hls/${playbackId}/index.m3u8?dvr=1`;
  const text = (await fetchBytes(url)).body.toString();
  const folders = new Set([...text.matchAll(/s\/[^"\n]+\/(?=dvr\.m3u8)/g)].map(([path]) => new URL(path, url).href));
  return [...folders].toSorted((a, b) => Number(b.includes("/source/")) - Number(a.includes("/source/")));
}

async function until<Value>(what: string, look: () => Promise<Value | null>): Promise<Value> {
  for (const deadline = performance.now() + READY_WITHIN_MS; performance.now() < deadline; await wait(LOOK_EVERY_MS)) {
    const value = await look();
    if (value !== null) return value;
  }
  throw new Error(`${what}: not within ${READY_WITHIN_MS} ms`);
}
