import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { WeirClient } from "@weir/client";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const API_KEY = "the-key-of-a-bench-run";
const READY_WITHIN_MS = 30_000;

export interface ServerOptions {
  /** The checkout to run; by default this one. */
  readonly root?: string;
  /** Opens the server's inspector, to count what it does. */
  readonly inspect?: boolean;
  /** Publishers may come over SRT too. */
  readonly srt?: boolean;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
}

interface Started {
  readonly startMs: number;
  readonly banner: string;
  readonly folder: string;
  readonly root: string;
  readonly inspectorUrl: string;
}

/** On any free port. */
const INSPECT = "--inspect=127.0.0.1:0";

export type Profiles = NonNullable<Parameters<WeirClient["streams"]["create"]>[0]["profiles"]>;

/** The server as `npm start` runs it, on loopback and in its own data folder. */
export class BenchServer {
  readonly pid: number;
  /** Milliseconds from process start to the banner. */
  readonly startMs: number;
  readonly url: string;
  readonly client: WeirClient;
  readonly apiKey = API_KEY;
  readonly folder: string;
  readonly root: string;
  /** Empty without an inspector. */
  readonly inspectorUrl: string;
  readonly #child: ChildProcess;
  readonly #rtmpUrl: string;
  readonly #banner: string;

  private constructor(child: ChildProcess, { startMs, banner, folder, root, inspectorUrl }: Started) {
    this.folder = folder;
    this.root = root;
    this.inspectorUrl = inspectorUrl;
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.startMs = startMs;
    this.url = addressIn(banner, /http:\S+/);
    this.#banner = banner;
    this.#rtmpUrl = addressIn(banner, /rtmp:\S+\/live/);
    this.client = new WeirClient({ baseUrl: this.url, apiKey: API_KEY, maxRetries: 0 });
  }

  static async start(
    folder: string,
    { root = ROOT, inspect = false, srt = false, env = {} }: ServerOptions = {},
  ): Promise<BenchServer> {
    const startedAt = performance.now();
    const child = spawn(process.execPath, [...(inspect ? [INSPECT] : []), ...startArguments(root)], {
      cwd: root,
      stdio: ["ignore", "pipe", inspect ? "pipe" : "inherit"],
      env: {
        PATH: process.env.PATH,
        WEIR_DATA_DIR: folder,
        WEIR_HOST: "127.0.0.1",
        WEIR_HTTP_PORT: "0",
        WEIR_METRICS_PORT: "off",
        WEIR_SRT_PORT: srt ? "0" : "off",
        WEIR_STUN_PORT: "off",
        WEIR_WEBRTC_PORT: "off",
        WEIR_RTMP_PORT: "0",
        WEIR_API_KEY: API_KEY,
        WEIR_ALLOW_PRIVATE_URLS: "1",
        WEIR_LOG_LEVEL: "error",
        ...env,
      },
    });
    let inspectorUrl = "";
    child.stderr?.on("data", (text: Buffer) => {
      inspectorUrl ||= /ws:\S+/.exec(text.toString())?.[0] ?? "";
      if (!/inspector|debugg/i.test(text.toString())) process.stderr.write(text);
    });
    let banner = "";
    const isReady = (async () => {
      for await (const text of child.stdout ?? []) {
        banner += text;
        if (banner.includes("Next:")) return performance.now() - startedAt;
      }
      throw new Error("the server ended before it was ready");
    })();
    const late = wait(READY_WITHIN_MS, null, { ref: false });
    const startMs = await Promise.race([isReady, late]);
    if (startMs === null) {
      child.kill("SIGKILL");
      throw new Error(`the server was not ready within ${READY_WITHIN_MS} ms`);
    }
    return new BenchServer(child, { startMs, banner, folder, root, inspectorUrl });
  }

  /** `srt://host:port`. Throws if the server was started without SRT. */
  get srtUrl(): string {
    return addressIn(this.#banner, /srt:[^\s?]+/);
  }

  publishUrl(streamKey: string): string {
    return `${this.#rtmpUrl}/${streamKey}`;
  }

  /** Creates a stream, by default without a ladder and without recording. */
  async createStream(
    name: string,
    profiles: Profiles = [],
    record = false,
  ): Promise<{ id: string; publishUrl: string; hlsUrl: string; streamKey: string; playbackId: string }> {
    const { id, streamKey = "", playbackId } = await this.client.streams.create({ name, profiles, record });
    return {
      id,
      streamKey,
      playbackId,
      publishUrl: this.publishUrl(streamKey),
      hlsUrl: `${this.url}/hls/${playbackId}/index.m3u8`,
    };
  }

  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  /** As a crash: a later server goes on with its sessions. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill(signal);
    await exited;
  }
}

/** Runs `work` with a temporary data folder. */
export async function withDataFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "weir-bench-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Runs `work` with a server on `folder`. */
export async function withServer<Result>(
  folder: string,
  work: (server: BenchServer) => Promise<Result>,
  options: ServerOptions = {},
): Promise<Result> {
  const server = await BenchServer.start(folder, options);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** The arguments that `npm start` passes to Node. */
function startArguments(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { start: string } };
  const words = scripts.start.split(" ");
  return words.slice(words.indexOf("node") + 1);
}

function addressIn(banner: string, pattern: RegExp): string {
  const [address] = pattern.exec(banner) ?? [];
  if (!address) throw new Error(`the server's banner has no address: ${banner}`);
  return address.replace("localhost", "127.0.0.1");
}
