import { createServer, type Server, type Socket } from "node:net";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { PublishSettings } from "../publish-settings.ts";
import { RtmpPublisher } from "./rtmp-publisher.ts";

/** Connections that were told to go need a moment to be gone. */
const CLOSING_SHARE = 0.1;

export interface RtmpServerSettings {
  readonly publishing: PublishSettings;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** The proxies that may name their client by a PROXY header. */
  readonly proxies: TrustedProxies;
  readonly maxConnections: number;
}

/** Listens for RTMP publishers. Connections are bounded; each is one `RtmpPublisher`. */
export class RtmpServer {
  readonly #settings: RtmpServerSettings;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(settings: RtmpServerSettings) {
    this.#settings = settings;
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
    const { proxies, publishing } = this.#settings;
    new RtmpPublisher(socket, proxies.has(socket.remoteAddress ?? ""), publishing);
  }
}
