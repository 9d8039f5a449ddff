import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

export interface UdpRelayOptions {
  /** The port on loopback that it leads to. */
  readonly target: number;
  readonly roundTripMs: number;
  /** Share of the packets to the target that are lost, 0 to 1. */
  readonly loss: number;
  /** Of SRT, only packets with media are lost: their first bit is 0 (draft-sharabayko-srt, 3). */
  readonly losesOnlyMedia?: boolean;
  readonly seed?: number;
}

/** A network on loopback for one sender: packets take half a round trip each way, and some of those to the target are lost. */
export class UdpRelay implements AsyncDisposable {
  loss: number;
  readonly #options: UdpRelayOptions;
  readonly #front: Socket = createSocket("udp4");
  readonly #back: Socket = createSocket("udp4");
  readonly #timers = new Set<NodeJS.Timeout>();
  #sender: number | null = null;
  #random: number;

  private constructor(options: UdpRelayOptions) {
    this.#options = options;
    this.loss = options.loss;
    this.#random = options.seed ?? 28;
    this.#front.on("message", (message, { port }) => {
      this.#sender = port;
      const mayBeLost = !options.losesOnlyMedia || message.readUInt8() < 0x80;
      if (!mayBeLost || this.#chance() >= this.loss)
        this.#later(() => this.#back.send(message, options.target, "127.0.0.1"));
    });
    this.#back.on("message", (message) => {
      const sender = this.#sender;
      if (sender !== null) this.#later(() => this.#front.send(message, sender, "127.0.0.1"));
    });
  }

  static async open(options: UdpRelayOptions): Promise<UdpRelay> {
    const relay = new UdpRelay(options);
    relay.#front.bind(0, "127.0.0.1");
    await once(relay.#front, "listening");
    return relay;
  }

  get port(): number {
    return this.#front.address().port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of [this.#front, this.#back]) socket.close();
  }

  #later(send: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      send();
    }, this.#options.roundTripMs / 2);
    this.#timers.add(timer);
  }

  /** Deterministic pseudo-random numbers. */
  #chance(): number {
    this.#random = (this.#random * 16_807) % 2_147_483_647;
    return this.#random / 2_147_483_647;
  }
}
