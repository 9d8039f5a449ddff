import { createServer, type Server, type Socket } from "node:net";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import type { PublishGate } from "../../../ports.ts";
import { KeyGuesses } from "./key-guesses.ts";
import { type PublicationHub, RtmpPublisher } from "./rtmp-publisher.ts";

const MAX_CONNECTIONS = 2000;
const MAX_PER_ADDRESS = 500;

export interface RtmpServerSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly gate: PublishGate;
  readonly hub: PublicationHub;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

/** Listens for RTMP publishers. Connections are bounded, in all and per address; each is one `RtmpPublisher`. */
export class RtmpServer {
  readonly #settings: RtmpServerSettings;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  readonly #guesses: KeyGuesses;

  constructor(settings: RtmpServerSettings) {
    this.#settings = settings;
    this.#guesses = new KeyGuesses(settings.clock);
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Resolves with the port. Rejects with Node's error where it is taken. */
  listen(): Promise<number> {
    const { host, port } = this.#settings;
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        const address = this.#server.address();
        resolve(address && typeof address === "object" ? address.port : port);
      });
    });
  }

  get connectionCount(): number {
    return this.#sockets.size;
  }

  /** Take no new connections; those there are go on. */
  stopListening(): void {
    if (this.#server.listening) this.#server.close();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    const count = this.#perAddress.get(address) ?? 0;
    if (count >= MAX_PER_ADDRESS) {
      socket.destroy();
      return;
    }
    this.#perAddress.set(address, count + 1);
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      const left = (this.#perAddress.get(address) ?? 1) - 1;
      if (left > 0) this.#perAddress.set(address, left);
      else this.#perAddress.delete(address);
    });
    new RtmpPublisher(socket, { ...this.#settings, guesses: this.#guesses });
  }
}
