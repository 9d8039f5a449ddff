import { spawn } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { NewStream, Stream } from "@weir/contract";
import { startPublisher } from "../support/publisher.ts";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

export type Way = "rtmp" | "srt" | "whip" | "pull";

/** What sends, or is asked for what it has. */
export interface Source {
  /** Resolves when it sends no longer. */
  readonly ended: Promise<unknown>;
  /** Stops like a user. */
  stop(): Promise<void>;
  /** Its connection breaks. */
  kill(): Promise<void>;
  /** It sends nothing, with its connection open. */
  freeze(): void;
  thaw(): void;
}

export interface EncoderOptions extends Omit<NewStream, "name"> {
  readonly way?: Way;
}

export const FRAME_RATE = 15;
const TRY_AGAIN_MS = 500;
const SECONDS = 3_600;
const WHIP = fileURLToPath(new URL("../support/whip-publisher-child.ts", import.meta.url));
/** FFmpeg's WHIP muxer does not notice that nobody is there; its user does, from the dashboard. */
const NOTICED_MS = 6_000;
const LOOK_MS = 500;

/** An encoder that connects again whenever it was cut, as a person's does. */
export class Encoder implements AsyncDisposable {
  readonly stream: Stream;
  readonly way: Way;
  /** Since when it sends; null while it does not. */
  sendingSince: number | null = null;
  #source: Source | null = null;
  readonly #world: World;
  readonly #work: UntilStopped;

  private constructor(world: World, stream: Stream, way: Way) {
    this.stream = stream;
    this.way = way;
    this.#world = world;
    this.#work = new UntilStopped(async (signal) => {
      while (!signal.aborted) {
        // One that is refused costs seconds of the CPU, which a server that starts needs.
        this.#source = (await isListening(world)) ? await sourceOf(world, stream, way).catch(() => null) : null;
        if (this.#source) {
          this.sendingSince = Date.now();
          await this.#source.ended;
          this.sendingSince = null;
        }
        await sleep(TRY_AGAIN_MS);
      }
    });
  }

  static async start(world: World, { way = "rtmp", ...options }: EncoderOptions): Promise<Encoder> {
    const name = `campaign over ${way}`;
    const pull = way === "pull" ? { pull: { source: world.source.url } } : {};
    const stream = await world.weir.client.streams.create({ name, profiles: [], ...options, ...pull });
    return new Encoder(world, stream, way);
  }

  /** Its connection breaks. */
  async cut(): Promise<void> {
    await this.#source?.kill();
  }

  /** It sends nothing, with its connection open. */
  async silence(ms: number): Promise<void> {
    const source = this.#source;
    source?.freeze();
    await sleep(ms);
    source?.thaw();
  }

  /** Stops like a user. */
  async stop(): Promise<void> {
    const stopped = this.#work.stop();
    await this.#source?.stop();
    await stopped;
    // Who was cut at this moment, or whose connection has no end of its own, ends it in the dashboard.
    await this.#world.weir.client.streams.terminate(this.stream.id).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.#work.stop();
    // A source that is pulled is there until it is left.
    await (this.way === "pull" ? this.#source?.stop() : this.#source?.kill());
    await stopped;
  }
}

function isListening({ weir }: World): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(weir.rtmpPort, "127.0.0.1", () => resolve(true));
    socket.once("error", () => resolve(false)).once("connect", () => socket.destroy());
  });
}

function sourceOf(world: World, stream: Stream, way: Way): Promise<Source> {
  if (way === "pull") return pulledFrom(world, stream);
  if (way === "whip") return whipOf(world, stream);
  const { streamKey = "" } = stream;
  const url = way === "srt" ? world.srtUrl(streamKey) : world.weir.publishUrl(streamKey);
  return startPublisher({ url, seconds: SECONDS, width: 320, height: 180, frameRate: FRAME_RATE, bitrateBps: 200_000 });
}

async function whipOf(world: World, stream: Stream): Promise<Source> {
  const { client } = world.weir;
  const args = [WHIP, world.weir.webrtcUrl(stream.streamKey ?? ""), String(SECONDS)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const publishing = new Promise<boolean>((resolve) => {
    child.stdout.once("data", () => resolve(true));
    child.once("exit", () => resolve(false));
  });
  if (!(await publishing)) throw new Error("the WHIP encoder was not let in");
  let liveAt = Date.now();
  const watch = setInterval(async () => {
    const state = await client.streams.get(stream.id).then(
      ({ status }) => status.state,
      () => "unknown",
    );
    // An encoder whose server does not answer sends on.
    if (state === "live" || state === "unknown") liveAt = Date.now();
    else if (Date.now() - liveAt > NOTICED_MS) child.kill("SIGKILL");
  }, LOOK_MS);
  void ended.then(() => clearInterval(watch));
  const stop = async () => {
    await kill();
    await client.streams.terminate(stream.id).catch(() => {});
  };
  return { ended, stop, kill, freeze: () => child.kill("SIGSTOP"), thaw: () => child.kill("SIGCONT") };
}

/** The server asks for a file, and goes on by itself when it was cut. */
async function pulledFrom(world: World, { id }: Stream): Promise<Source> {
  const { client } = world.weir;
  await client.streams.startPull(id);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const stop = async () => {
    resolve();
    await client.streams.terminate(id).catch(() => {});
  };
  // A source that is cut is called again by the server itself.
  const kill = async () => world.source.cut();
  const silence = (isSilent: boolean) => () => {
    world.source.isSilent = isSilent;
  };
  return { ended, stop, kill, freeze: silence(true), thaw: silence(false) };
}
