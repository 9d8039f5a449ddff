import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WeirClient } from "@weir/client";
import { makeRunFolder, type RunFolder } from "../../platform/run-folder.ts";
import { type PrivateServer, startPrivateServer } from "../private-server.ts";
import type { MixPart } from "./carried.ts";
import { LoadProcess } from "./load-process.ts";

/** Of a ladder: beside the source of 720p. */
const PROFILES = [
  { name: "480p0", width: 854, height: 480, bitrate: 1_600_000, fps: 0 },
  { name: "360p0", width: 640, height: 360, bitrate: 800_000, fps: 0 },
];
/** One that refuses nothing: what the machine carries is the question. */
const SETTINGS = {
  WEIR_WEBRTC_PORT: "0",
  WEIR_RECONNECT_WINDOW_MS: "0",
  WEIR_CONNECTIONS_PER_CLIENT: "1000000",
  WEIR_VIEWERS_PER_CLIENT: "100000",
  WEIR_TRANSCODE_CORES: "1024",
  WEIR_RATE_LIMIT: "0",
};

export interface TrialOptions {
  /** The server runs on these cores alone, as `taskset` names them (`0`, `0-3`), and the load on the others. */
  readonly serverCores?: string | undefined;
  readonly loadCores?: string | undefined;
}

/** A stream of the trial, with its addresses. */
export interface TrialStream {
  readonly id: string;
  readonly publishUrl: string;
  readonly hlsUrl: string;
  readonly whepUrl: string;
}

/** A server on a temporary folder, and processes that publish to it and watch. */
export class TrialServer {
  readonly #server: PrivateServer;
  readonly #folder: RunFolder;
  readonly #client: WeirClient;
  readonly #loadPrefix: readonly string[];
  readonly #loads = new Set<LoadProcess>();

  private constructor(server: PrivateServer, folder: RunFolder, apiKey: string, loadPrefix: readonly string[]) {
    this.#server = server;
    this.#folder = folder;
    this.#client = new WeirClient({ baseUrl: server.url, apiKey });
    this.#loadPrefix = loadPrefix;
  }

  /** Throws `StartupError` if the server does not start. */
  static async start({ serverCores, loadCores }: TrialOptions): Promise<TrialServer> {
    const folder = await makeRunFolder(tmpdir(), "weir-capacity-", Date.now());
    const apiKey = randomBytes(24).toString("hex");
    try {
      const server = await startPrivateServer({
        dataDir: join(folder.path, "data"),
        apiKey,
        settings: SETTINGS,
        name: "the server that is to be measured",
        prefix: taskset(serverCores),
      });
      return new TrialServer(server, folder, apiKey, taskset(loadCores));
    } catch (error) {
      await folder.remove();
      throw error;
    }
  }

  get pid(): number {
    return this.#server.pid;
  }

  /** A process for publishers or viewers. It ends with the trial, or before. */
  newLoad(): LoadProcess {
    const load = new LoadProcess(this.#loadPrefix);
    this.#loads.add(load);
    return load;
  }

  async end(load: LoadProcess): Promise<void> {
    this.#loads.delete(load);
    await load.stop();
  }

  async createStreams(kind: MixPart & ("streams" | "ladders"), count: number): Promise<TrialStream[]> {
    const made: TrialStream[] = [];
    for (let n = 0; n < count; n++) {
      const profiles = kind === "ladders" ? PROFILES : [];
      const { id, streamKey, playbackId } = await this.#client.streams.create({ name: kind, profiles });
      made.push({
        id,
        publishUrl: `${this.#server.rtmpUrl}/${streamKey}`,
        hlsUrl: `${this.#server.url}/hls/${playbackId}/index.m3u8`,
        whepUrl: `${this.#server.url}/webrtc/${playbackId}`,
      });
    }
    return made;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#loads].map((load) => load.stop()));
    await this.#server.stop();
    await this.#folder.remove();
  }
}

const taskset = (cores: string | undefined): string[] => (cores === undefined ? [] : ["taskset", "-c", cores]);
