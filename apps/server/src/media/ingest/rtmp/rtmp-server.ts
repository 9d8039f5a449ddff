import { createServer, type Server, type Socket } from "node:net";
import type { Clock } from "../../../platform/clock.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { Log } from "../../../platform/log.ts";
import type { PublishGate } from "../../../ports/index.ts";
import { KeyCheck } from "./key-check.ts";
import { PublisherPlaces } from "./publisher-places.ts";
import { type PublicationHub, RtmpPublisher } from "./rtmp-publisher.ts";

/** Connections that were told to go need a moment to be gone. */
const CLOSING_SHARE = 0.1;

export interface RtmpServerSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly gate: PublishGate;
  readonly hub: PublicationHub;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Who may say by a PROXY header for whom it connects. */
  readonly proxies: TrustedProxies;
  readonly maxConnections: number;
}

/** Listens for RTMP publishers. Connections are bounded, in all and per client; each is one `RtmpPublisher`. */
export class RtmpServer {
  readonly #settings: RtmpServerSettings;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #keys: KeyCheck;
  readonly #places: PublisherPlaces;

  constructor(settings: RtmpServerSettings) {
    this.#settings = settings;
    this.#keys = new KeyCheck(settings.clock);
    this.#places = new PublisherPlaces(settings.maxConnections);
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = Math.ceil(settings.maxConnections * (1 + CLOSING_SHARE));
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
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const isProxy = this.#settings.proxies.has(socket.remoteAddress ?? "");
    new RtmpPublisher(socket, { ...this.#settings, keys: this.#keys, places: this.#places, isProxy });
  }
}
