import { createServer, type Server, type Socket } from "node:net";
import type { Timer } from "../../../platform/clock.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { Listener } from "../../../platform/listener.ts";
import { loadReceiveMark, type SetReceiveMark } from "../../../platform/receive-mark.ts";
import type { PublishSettings } from "../publish-settings.ts";
import { LOOK_MS, ReadMark } from "./read-mark.ts";
import { RtmpPublisher } from "./rtmp-publisher.ts";

/** Additional connections allowed, for those being closed. */
const CLOSING_SHARE = 0.1;

export interface RtmpServerSettings {
  readonly publishing: PublishSettings;
  readonly listener: Listener;
  /** The proxies that may name their client in a PROXY header. */
  readonly proxies: TrustedProxies;
  readonly maxConnections: number;
}

/** Listens for RTMP publishers. The number of connections is limited; each is an `RtmpPublisher`. */
export class RtmpServer {
  readonly #settings: RtmpServerSettings;
  readonly #server: Server;
  readonly #connections = new Map<Socket, ReadMark>();
  /** Runs while there is a connection. */
  #looks: Timer | null = null;
  #setReceiveMark: SetReceiveMark | null = null;

  constructor(settings: RtmpServerSettings) {
    this.#settings = settings;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = Math.ceil(settings.maxConnections * (1 + CLOSING_SHARE));
  }

  /** Throws `StartupError` if the port is taken or not allowed. */
  async listen(): Promise<void> {
    const { listener, publishing } = this.#settings;
    this.#setReceiveMark = await loadReceiveMark();
    await listener.open(this.#server, (err) => publishing.log.error({ err }, "could not accept an RTMP connection"));
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Accepts no new connections; existing ones continue. */
  stopListening(): void {
    if (this.#server.listening) this.#server.close();
  }

  async close(): Promise<void> {
    this.#stopLooking();
    const closed = new Promise<void>((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    for (const socket of this.#connections.keys()) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    const readMark = new ReadMark((bytes) => this.#setReceiveMark?.(socket, bytes));
    const { proxies, publishing } = this.#settings;
    this.#looks ??= publishing.clock.every(LOOK_MS, () => {
      for (const other of this.#connections.values()) other.look();
    });
    this.#connections.set(socket, readMark);
    socket.once("close", () => {
      this.#connections.delete(socket);
      if (this.#connections.size === 0) this.#stopLooking();
    });
    new RtmpPublisher(socket, proxies.has(socket.remoteAddress ?? ""), readMark, publishing);
  }

  #stopLooking(): void {
    this.#looks?.cancel();
    this.#looks = null;
  }
}
