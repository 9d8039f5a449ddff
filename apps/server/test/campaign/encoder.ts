import { setTimeout as sleep } from "node:timers/promises";
import type { NewStream, Stream } from "@weir/contract";
import { type Publisher, startPublisher } from "../support/publisher.ts";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

const TRY_AGAIN_MS = 500;

/** An encoder that connects again whenever it was cut, as a person's does. */
export class Encoder implements AsyncDisposable {
  readonly stream: Stream;
  /** Since when it sends; null while it does not. */
  sendingSince: number | null = null;
  #publisher: Publisher | null = null;
  readonly #work: UntilStopped;

  private constructor(world: World, stream: Stream) {
    this.stream = stream;
    const url = world.weir.publishUrl(stream.streamKey ?? "");
    this.#work = new UntilStopped(async (signal) => {
      while (!signal.aborted) {
        const job = { url, seconds: 3_600, width: 320, height: 180, frameRate: 15, bitrateBps: 200_000 };
        this.#publisher = await startPublisher(job).catch(() => null);
        if (this.#publisher) {
          this.sendingSince = Date.now();
          await this.#publisher.ended;
          this.sendingSince = null;
        }
        await sleep(TRY_AGAIN_MS);
      }
    });
  }

  static async start(world: World, stream: Omit<NewStream, "name">): Promise<Encoder> {
    return new Encoder(world, await world.weir.client.streams.create({ name: "campaign", profiles: [], ...stream }));
  }

  /** Its connection breaks. */
  async cut(): Promise<void> {
    await this.#publisher?.kill();
  }

  /** It sends nothing, with its connection open. */
  async silence(ms: number): Promise<void> {
    const publisher = this.#publisher;
    publisher?.freeze();
    await sleep(ms);
    publisher?.thaw();
  }

  /** Stops like a user. */
  async stop(): Promise<void> {
    const stopped = this.#work.stop();
    await this.#publisher?.stop();
    await stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.#work.stop();
    await this.#publisher?.kill();
    await stopped;
  }
}
