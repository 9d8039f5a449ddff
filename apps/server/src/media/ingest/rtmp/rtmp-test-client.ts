import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import {
  type AmfValue,
  ChunkReader,
  type Command,
  clientHello,
  HANDSHAKE_BYTES,
  MESSAGE,
  readCommand,
  readUint32,
  uint32Payload,
  writeCommand,
  writeMessage,
} from "@weir/formats/rtmp";
import { HANDSHAKE_CRYPTO } from "../../../platform/handshake-crypto.ts";

export interface Status {
  readonly level: string;
  readonly code: string;
  readonly description: string;
}

interface Received {
  readonly typeId: number;
  readonly payload: Uint8Array;
}

/** A test encoder: sends exactly what the test says, valid or not, and records the server's responses. */
export class RtmpTestClient {
  readonly socket: Socket;
  /** Resolves when the connection has closed in any way. */
  readonly closed: Promise<unknown>;
  readonly received: Received[] = [];
  chunkSize = 128;
  #handshakeLeft = 1 + 2 * HANDSHAKE_BYTES;
  #wake = () => {};
  readonly #reader: ChunkReader;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    this.#reader = new ChunkReader((typeId, _timestamp, _streamId, payload) => {
      if (typeId === MESSAGE.setChunkSize) this.#reader.setChunkSize(readUint32(payload));
      this.received.push({ typeId, payload });
    });
    socket.on("error", () => {}); // a reset also closes the connection
    socket.on("data", (bytes) => {
      const rest = bytes.subarray(this.#handshakeLeft);
      this.#handshakeLeft = Math.max(0, this.#handshakeLeft - bytes.length);
      this.#reader.push(rest);
      this.#wake();
    });
    socket.once("close", () => this.#wake());
  }

  /** Over TLS; `ca` is the certificate to trust. */
  static async openSecure(port: number, ca: string): Promise<RtmpTestClient> {
    const socket = connectTls({ host: "127.0.0.1", servername: "localhost", port, ca });
    const client = new RtmpTestClient(socket);
    await once(socket, "secureConnect");
    return client;
  }

  static async open(port: number, localAddress = "127.0.0.1"): Promise<RtmpTestClient> {
    const socket = connect({ host: "127.0.0.1", port, localAddress, noDelay: true });
    const client = new RtmpTestClient(socket);
    await once(socket, "connect");
    return client;
  }

  /** Connects and publishes. Resolves with the server's status, accepted or refused. */
  static async publish(
    port: number,
    key: AmfValue,
    localAddress?: string,
  ): Promise<{ client: RtmpTestClient; status: Status }> {
    const client = await RtmpTestClient.open(port, localAddress);
    client.greet();
    client.connect();
    client.publish(key);
    return { client, status: await client.status() };
  }

  /** Sends C0, C1 and C2. C2 does not wait for S1, since no server checks its content. */
  greet(isSigned = false): void {
    this.send(clientHello(HANDSHAKE_CRYPTO, isSigned));
    this.send(new Uint8Array(HANDSHAKE_BYTES));
  }

  connect(app: AmfValue = "live"): void {
    this.command(0, "connect", 1, { app, type: "nonprivate", flashVer: "FMLE/3.0" });
  }

  publish(key: AmfValue): void {
    this.command(0, "releaseStream", 2, null, key);
    this.command(0, "FCPublish", 3, null, key);
    this.command(0, "createStream", 4, null);
    this.command(1, "publish", 5, null, key, "live");
  }

  command(streamId: number, name: string, transactionId: number, ...values: AmfValue[]): void {
    this.message(MESSAGE.commandAmf0, writeCommand(name, transactionId, ...values), 0, streamId);
  }

  setChunkSize(size: number): void {
    this.message(MESSAGE.setChunkSize, uint32Payload(size), 0, 0, 2);
    this.chunkSize = size;
  }

  message(typeId: number, payload: Uint8Array, timestamp = 0, streamId = 1, chunkStreamId = 4): void {
    this.send(writeMessage({ chunkStreamId, typeId, timestamp, streamId, payload }, this.chunkSize));
  }

  send(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The first server message that `matches`. Rejects if the connection closes without one. */
  async answer(what: string, matches: (message: Received) => boolean): Promise<Received> {
    for (;;) {
      const found = this.received.find(matches);
      if (found) return found;
      if (this.socket.closed) throw new Error(`the server closed without ${what}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async called(name: string): Promise<Command> {
    const { payload } = await this.answer(name, (message) => commandOf(message)?.name === name);
    return readCommand(payload, MESSAGE.commandAmf0);
  }

  /** The first `onStatus`. */
  async status(): Promise<Status> {
    return statusOf(await this.called("onStatus"));
  }

  /** The last `onStatus` before the server closed. */
  async lastWords(): Promise<Status | undefined> {
    await this.closed;
    const last = this.received.map(commandOf).findLast((command) => command?.name === "onStatus");
    return last ? statusOf(last) : undefined;
  }
}

function commandOf({ typeId, payload }: Received): Command | null {
  return typeId === MESSAGE.commandAmf0 ? readCommand(payload, typeId) : null;
}

function statusOf({ args }: Command): Status {
  return args[0] as unknown as Status;
}
