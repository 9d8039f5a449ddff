import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { StartupError } from "./startup-error.ts";

/** As errors show it; its first word in capitals is that of its setting, `WEIR_…_PORT`. */
export type ListenerName =
  | "cluster"
  | "HTTP"
  | "HTTPS"
  | "RTMP"
  | "RTMPS"
  | "metrics"
  | "SRT UDP"
  | "WebRTC UDP"
  | "STUN UDP";

/** How processes share a TCP port: the kernel deals connections out to all that listen (SO_REUSEPORT), or their parent passes them on (node:cluster). */
export type PortSharing = "kernel" | "parent";

/** How processes can share ports on this system. */
export async function findPortSharing(): Promise<PortSharing> {
  const server = createServer();
  try {
    await once(server.listen({ host: "127.0.0.1", port: 0, reusePort: true }), "listening");
    return "kernel";
  } catch {
    return "parent";
  } finally {
    server.close();
  }
}

/** A port of this server: where its setting puts it, and where it is open. */
export class Listener {
  readonly name: ListenerName;
  readonly host: string;
  #port: number;
  readonly #sharing: PortSharing | null;

  /** Port 0 picks a free one. With `sharing`, other processes of this server open the same TCP port. */
  constructor(name: ListenerName, host: string, port: number, sharing: PortSharing | null = null) {
    this.name = name;
    this.host = host;
    this.#port = port;
    this.#sharing = sharing;
  }

  /** As set, and once it is open, as bound. */
  get port(): number {
    return this.#port;
  }

  /** Throws the error that `open` would throw. Run it before a start creates anything; port 0 is always free. */
  async check(): Promise<void> {
    if (this.#port === 0) return;
    const server = createServer();
    await this.open(server, () => {});
    server.close();
  }

  /** As `check`, and a free port is picked now. */
  async choose(): Promise<number> {
    const server = createServer();
    await this.open(server, () => {});
    await new Promise((resolve) => server.close(resolve));
    return this.#port;
  }

  /**
   * Starts a TCP server here. Rejects with the sentence of `explain` if the port cannot be opened. Later errors go to `onError`: Node emits one
   * when it cannot accept a connection, for lack of memory or file descriptors, and without a listener it would end the process.
   */
  async open(server: Server, onError: (error: Error) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.on("error", (error) => (server.listening ? onError(error) : reject(this.explain(error))));
    // Without these, a process with a parent asks it for the port.
    const sharing = this.#sharing === "parent" ? {} : this.#sharing ? { reusePort: true } : { exclusive: true };
    server.listen({ host: this.host, port: this.#port, backlog: 1024, ...sharing }, resolve);
    await promise;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** A UDP socket here, with the same errors. */
  async openUdp(): Promise<Socket> {
    const socket = createSocket({ type: this.host.includes(":") ? "udp6" : "udp4" });
    try {
      await once(socket.bind({ port: this.#port, address: this.host, exclusive: true }), "listening");
    } catch (error) {
      socket.close();
      throw this.explain(error as Error);
    }
    this.#port = socket.address().port;
    return socket;
  }

  /** The reason why it could not open, in one line that names the setting to change. */
  explain(error: NodeJS.ErrnoException): Error {
    const where = `${this.name} port ${this.#port} on ${this.host}`;
    const setting = `WEIR_${this.name.split(" ")[0]?.toUpperCase()}`;
    const ofPort = this.name === "cluster" ? "WEIR_CLUSTER_ADDRESS" : `${setting}_PORT`;
    if (error.code === "EADDRINUSE")
      return new StartupError(`${where} is in use by another program: end it or set ${ofPort}`);
    if (error.code === "EACCES")
      return new StartupError(`${where} needs a privilege that this user lacks: set ${ofPort} to 1024 or more`);
    if (error.code === "EADDRNOTAVAIL")
      return new StartupError(
        `${this.host} is not an address of this machine: set ${this.name === "cluster" ? ofPort : `${this.name === "metrics" ? setting : "WEIR"}_HOST`}`,
      );
    return error;
  }
}
