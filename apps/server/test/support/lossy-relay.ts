import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

export interface LossyRelayOptions {
  /** The port on loopback that it stands before. */
  readonly target: number;
  /** Of the packets that come from there, from 0 to 1. */
  readonly loss: number;
  /** Packets that are held back until the next one has gone, from 0 to 1. */
  readonly reordered: number;
}

/** A UDP relay on loopback that loses and reorders some of what comes from its target. */
export class LossyRelay implements AsyncDisposable {
  loss: number;
  readonly #options: LossyRelayOptions;
  readonly #front: Socket = createSocket("udp4");
  readonly #backs = new Map<number, Socket>();
  #random = 1;

  private constructor(options: LossyRelayOptions) {
    this.#options = options;
    this.loss = options.loss;
    this.#front.on("message", (message, from) => this.#backOf(from.port).send(message, options.target, "127.0.0.1"));
  }

  static async open(options: LossyRelayOptions): Promise<LossyRelay> {
    const relay = new LossyRelay(options);
    relay.#front.bind(0, "127.0.0.1");
    await once(relay.#front, "listening");
    return relay;
  }

  get port(): number {
    return this.#front.address().port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of [this.#front, ...this.#backs.values()]) socket.close();
  }

  #backOf(client: number): Socket {
    const known = this.#backs.get(client);
    if (known) return known;
    const back = createSocket("udp4");
    let held: Buffer | null = null;
    back.on("message", (message) => {
      if (this.#chance() < this.loss) return;
      if (!held && this.#chance() < this.#options.reordered) {
        held = message;
        return;
      }
      this.#front.send(message, client, "127.0.0.1");
      if (held) this.#front.send(held, client, "127.0.0.1");
      held = null;
    });
    this.#backs.set(client, back);
    return back;
  }

  /** The same in every run. */
  #chance(): number {
    this.#random = (this.#random * 16_807) % 2_147_483_647;
    return this.#random / 2_147_483_647;
  }
}
