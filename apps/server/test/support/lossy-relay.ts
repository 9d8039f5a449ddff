import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

export interface LossyRelayOptions {
  /** The target's port on loopback. */
  readonly target: number;
  /** Share of packets from the target that are lost, 0 to 1. */
  readonly loss: number;
  /** Share of packets that are delayed behind the next one, 0 to 1. */
  readonly reordered: number;
  /** Share of packets to the target, 0 to 1, that replay one of the connection's first packets, including its handshake. */
  readonly replayed?: number;
}

/** Number of first packets kept for replay. */
const MAX_KEPT = 50;

/** Buffer of the line: packets that would wait longer are dropped. */
const MAX_QUEUE_MS = 200;

/** A UDP relay on loopback that drops and reorders packets from its target, with limited bandwidth. */
export class LossyRelay implements AsyncDisposable {
  loss: number;
  /** Bandwidth limit for packets from the target. */
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

  /** Deterministic pseudo-random numbers. */
  #chance(): number {
    this.#random = (this.#random * 16_807) % 2_147_483_647;
    return this.#random / 2_147_483_647;
  }
}
