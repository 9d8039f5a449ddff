import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A misbehaving target. The first two accept the stream first, through the server behind them. */
export type Fault = "never reads" | "reads at half speed" | "answers garbage" | "redirects";

/** A connection that has received this much has accepted the stream: commands are shorter. */
const COMMAND_BYTES = 8_000;
const TURN_MS = 50;
/** The RTMP handshake: a version and twice 1536 bytes. */
const HANDSHAKE = Buffer.concat([Buffer.of(3), Buffer.alloc(2 * 1536)]);

export interface FaultyTargetOptions {
  readonly fault: Fault;
  /** An RTMP server that accepts the stream. */
  readonly behind: number;
  /** Bytes per second: half of the stream. */
  readonly bytesPerSecond: number;
  /** A redirecting response, sent after the handshake. */
  readonly redirect: Uint8Array;
}

/** Listens like an RTMP server and misbehaves on every connection. */
export class FaultyTarget implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #connections = 0;

  private constructor(options: FaultyTargetOptions) {
    this.#server = createServer((socket) => {
      this.#connections++;
      this.#keep(socket);
      this.#behave(socket, options);
    });
  }

  static async open(options: FaultyTargetOptions): Promise<FaultyTarget> {
    const target = new FaultyTarget(options);
    await new Promise<void>((resolve) => target.#server.listen(0, "127.0.0.1", resolve));
    return target;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#connections;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {}).once("close", () => this.#sockets.delete(socket));
  }

  #behave(socket: Socket, { fault, behind, bytesPerSecond, redirect }: FaultyTargetOptions): void {
    if (fault === "answers garbage") return void socket.write("HTTP/1.1 400 Bad Request\r\n\r\n");
    if (fault === "redirects")
      return void socket.once("data", () => socket.write(Buffer.concat([HANDSHAKE, redirect])));
    const server = connect(behind, "127.0.0.1");
    this.#keep(server);
    server.pipe(socket);
    socket.once("close", () => server.destroy());
    server.once("close", () => socket.destroy());
    let received = 0;
    let unread = 0;
    socket.on("data", (bytes) => {
      server.write(bytes);
      received += bytes.length;
      if (received < COMMAND_BYTES) return;
      unread += bytes.length;
      socket.pause();
    });
    if (fault === "never reads") return;
    const turn = setInterval(() => {
      unread -= (bytesPerSecond * TURN_MS) / 1000;
      if (unread <= 0) socket.resume();
    }, TURN_MS);
    socket.once("close", () => clearInterval(turn));
  }
}
