import { rm } from "node:fs/promises";
import { WeirClient } from "@weir/client";
import type { NewStream, Stream } from "@weir/contract";
import { silentLog } from "../../src/platform/log.ts";
import { ManualClock } from "../../src/platform/manual-clock-rig.ts";
import { createTestDatabase } from "../../src/platform/postgres/postgres-test-database.ts";
import { makeTestFolder } from "../../src/platform/test-folder-rig.ts";
import { readConfig } from "../../src/roles/config.ts";
import { startWeir, type Weir } from "../../src/roles/weir.ts";
import { LoopbackPublisher } from "./loopback-test-publisher.ts";
import { PRESET_API_KEY } from "./weir-server.ts";

const STEP_MS = 200;
const LOOK_MS = 600;

/**
 * The whole server in this process on a manual clock: RTMP bytes in over a socket, HLS and the API out over HTTP. Minutes of a broadcast pass
 * in seconds. Its streams have no ladder.
 */
export class Loopback implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly url: string;
  readonly client: WeirClient;
  readonly #rtmpPort: number;
  readonly #publishers: LoopbackPublisher[] = [];
  readonly #weir: Weir;
  readonly #closing: AsyncDisposableStack;

  private constructor(clock: ManualClock, weir: Weir, closing: AsyncDisposableStack) {
    const { port: httpPort } = new URL(weir.facts.url ?? "");
    const { port: rtmpPort } = new URL(weir.facts.rtmpUrl?.replace("rtmp:", "http:") ?? "");
    this.clock = clock;
    this.#weir = weir;
    this.url = `http://127.0.0.1:${httpPort}`;
    this.#rtmpPort = Number(rtmpPort);
    this.#closing = closing;
    this.client = new WeirClient({ baseUrl: this.url, apiKey: PRESET_API_KEY, maxRetries: 0 });
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<Loopback> {
    await using opened = new AsyncDisposableStack();
    const folder = makeTestFolder("loopback");
    opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const database = await createTestDatabase();
    opened.defer(() => database.drop());
    const { host, port, user, database: name } = database.address;
    const config = readConfig({
      DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
      WEIR_DATA_DIR: folder,
      WEIR_HOST: "127.0.0.1",
      WEIR_HTTP_PORT: "0",
      WEIR_SRT_PORT: "off",
      WEIR_STUN_PORT: "off",
      WEIR_WEBRTC_PORT: "off",
      WEIR_RTMP_PORT: "0",
      WEIR_METRICS_PORT: "off",
      WEIR_API_KEY: PRESET_API_KEY,
      ...env,
    });
    const clock = new ManualClock(Date.UTC(2030, 0, 1));
    const weir = await startWeir({ config, clock, log: silentLog });
    opened.defer(async () => {
      // Parts of it wait for the manual clock.
      const ticking = setInterval(() => clock.advance(STEP_MS), 10);
      await weir.close().finally(() => clearInterval(ticking));
    });
    return new Loopback(clock, weir, opened.move());
  }

  createStream(stream: Omit<NewStream, "name"> = {}): Promise<Stream> {
    return this.client.streams.create({ name: "loopback", profiles: [], ...stream });
  }

  hlsUrl({ playbackId }: Stream): string {
    return `${this.url}/hls/${playbackId}/index.m3u8`;
  }

  /** A publisher on the manual clock. */
  async publish({ streamKey = "" }: Stream): Promise<LoopbackPublisher> {
    const publisher = await LoopbackPublisher.open(this.#rtmpPort, streamKey, this.clock);
    this.#publishers.push(publisher);
    return publisher;
  }

  /** Advances the clock in steps; after each one the server has answered a request. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      this.clock.advance(STEP_MS);
      for (const publisher of this.#publishers) publisher.sendWhatIsDue();
      await (await fetch(`${this.url}/readyz`)).arrayBuffer();
    }
  }

  /** Advances the clock until the condition holds. Resolves with the milliseconds that took. */
  async until(what: string, holds: () => Promise<boolean>, withinMs: number): Promise<number> {
    for (let passed = 0; passed <= withinMs; passed += LOOK_MS) {
      if (await holds()) return passed;
      await this.pass(LOOK_MS);
    }
    throw new Error(`${withinMs} ms passed without ${what}`);
  }

  async untilState(stream: Stream, state: Stream["status"]["state"], withinMs: number): Promise<number> {
    const isThere = async () => (await this.client.streams.get(stream.id)).status.state === state;
    return this.until(`the stream being ${state}`, isThere, withinMs);
  }

  /** Closes the server. Resolves with the milliseconds that took; the clock passes slowly enough for what does not wait for it. */
  async close(): Promise<number> {
    const since = this.clock.monotonic();
    const ticking = setInterval(() => this.clock.advance(STEP_MS), STEP_MS / 2);
    await this.#weir.close().finally(() => clearInterval(ticking));
    return this.clock.monotonic() - since;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync();
  }
}
