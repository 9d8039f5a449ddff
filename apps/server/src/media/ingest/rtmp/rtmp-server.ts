import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import type { Timer } from "../../../platform/clock.ts";
import type { TlsFiles } from "../../../platform/http/tls-files.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { Listener } from "../../../platform/listener.ts";
import { loadReceiveMark, type SetReceiveMark } from "../../../platform/receive-mark.ts";
import type { PublishSettings } from "../publish-settings.ts";
import { LOOK_MS, ReadMark } from "./read-mark.ts";
import { RtmpPublisher } from "./rtmp-publisher.ts";

/** Additional connections allowed, for those being closed. */
const CLOSING_SHARE = 0.1;
const TLS_HANDSHAKE_MS = 10_000;

export interface RtmpServerSettings {
  readonly publishing: PublishSettings;
  readonly listener: Listener;
  /** The port for RTMP over TLS, and its certificate; null for none. */
  readonly secure: { readonly listener: Listener; readonly tls: TlsFiles } | null;
  /** The proxies that may name their client in a PROXY header. */
  readonly proxies: TrustedProxies;
  readonly maxConnections: number;
}

/** Listens for RTMP publishers, with and without TLS. The number of connections is limited; each is an `RtmpPublisher`. */
export class RtmpServer {
  readonly #settings: RtmpServerSettings;
  readonly #server: Server;
  readonly #secureServer: TlsServer | null;
  readonly #maxSockets: number;
  /** Of both ports, those in a TLS handshake too. */
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Map<Socket, ReadMark>();
  #unwatch = () => {};
  /** Runs while there is a connection. */
  #looks: Timer | null = null;
  #setReceiveMark: SetReceiveMark | null = null;

  constructor(settings: RtmpServerSettings) {
    this.#settings = settings;
    this.#maxSockets = Math.ceil(settings.maxConnections * (1 + CLOSING_SHARE));
    this.#server = createServer((socket) => this.#count(socket) && this.#accept(socket));
    this.#secureServer = settings.secure && this.#createSecure(settings.secure.tls);
  }

  /** Throws `StartupError` if a port is taken or not allowed. */
  async listen(): Promise<void> {
    const { listener, secure, publishing } = this.#settings;
    this.#setReceiveMark = await loadReceiveMark();
    const failed = (err: Error) => publishing.log.error({ err }, "could not accept an RTMP connection");
    await listener.open(this.#server, failed);
    if (this.#secureServer) await secure?.listener.open(this.#secureServer, failed);
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Accepts no new connections; existing ones continue. */
  stopListening(): void {
    for (const server of this.#servers) if (server.listening) server.close();
  }

  async close(): Promise<void> {
    this.#stopLooking();
    this.#unwatch();
    const closed = this.#servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          if (server.listening) server.close(() => resolve());
          else resolve();
        }),
    );
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  get #servers(): Server[] {
    return this.#secureServer ? [this.#server, this.#secureServer] : [this.#server];
  }

  #createSecure(tls: TlsFiles): TlsServer {
    const server = createTlsServer({ ...tls.current, handshakeTimeout: TLS_HANDSHAKE_MS });
    server.on("connection", (socket) => this.#count(socket));
    server.on("secureConnection", (socket) => this.#accept(socket));
    server.on("tlsClientError", () => {}); // the socket is destroyed
    this.#unwatch = tls.watch((identity) => server.setSecureContext(identity));
    return server;
  }

  /** False if there is no room: the socket is closed. */
  #count(socket: Socket): boolean {
    if (this.#sockets.size >= this.#maxSockets) {
      socket.destroy();
      return false;
    }
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return true;
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
