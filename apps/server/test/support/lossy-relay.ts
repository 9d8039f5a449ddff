import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

export interface LossyRelayOptions {
  /** The port on loopback that it stands before. */
  readonly target: number;
  /** Of the packets that come from there, from 0 to 1. */
  readonly loss: number;
  /** Packets that are held back until the next one has gone, from 0 to 1. */
  readonly reordered: number;
  /** Of the packets that go there, from 0 to 1: each brings one of the connection's first packets along once more, its handshake among them. */
  readonly replayed?: number;
}

/** First packets that are kept to be sent again. */
const MAX_KEPT = 50;

/** A line's buffer: packets that would wait for longer are dropped. */
const MAX_QUEUE_MS = 200;

/** A UDP relay on loopback that loses and reorders some of what comes from its target, and lets no more through than its line carries. */
export class LossyRelay implements AsyncDisposable {
  loss: number;
  /** What the line carries of what comes from the target. */
  bitsPerSecond = Number.POSITIVE_INFINITY;
  replays = 0;
  readonly #kept: Buffer[] = [];
  #freeAt = 0;
  readonly #options: LossyRelayOptions;
  readonly #front: Socket = createSocket("udp4");
  readonly #backs = new Map<number, Socket>();
  #random = 1;

  private constructor(options: LossyRelayOptions) {
    this.#options = options;
    this.loss = options.loss;
    this.#front.on("message", (message, from) => {
      const back = this.#backOf(from.port);
      back.send(message, options.target, "127.0.0.1");
      if (this.#kept.length < MAX_KEPT) this.#kept.push(message);
      if (this.#chance() >= (options.replayed ?? 0)) return;
      this.replays++;
      back.send(this.#kept[this.replays % this.#kept.length] ?? message, options.target, "127.0.0.1");
    });
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
      if (this.bitsPerSecond < Number.POSITIVE_INFINITY) return this.#queue(message, client);
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

  #queue(message: Buffer, client: number): void {
    const now = performance.now();
    const waitMs = Math.max(0, this.#freeAt - now);
    if (waitMs > MAX_QUEUE_MS) return;
    const takesMs = (message.length * 8_000) / this.bitsPerSecond;
    this.#freeAt = now + waitMs + takesMs;
    setTimeout(() => this.#front.send(message, client, "127.0.0.1"), waitMs + takesMs);
  }

  /** The same in every run. */
  #chance(): number {
    this.#random = (this.#random * 16_807) % 2_147_483_647;
    return this.#random / 2_147_483_647;
  }
}
