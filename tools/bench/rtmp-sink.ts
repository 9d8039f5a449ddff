import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import {
  answerHandshake,
  ChunkReader,
  CLIENT_HELLO_BYTES,
  HANDSHAKE_BYTES,
  MESSAGE,
  readCommand,
  readUint32,
  writeCommand,
  writeMessage,
} from "@weir/formats/rtmp";
import { HANDSHAKE_CRYPTO } from "../../apps/server/src/platform/handshake-crypto.ts";

/** An RTMP server that accepts every broadcast and discards it. */
export class RtmpSink {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => this.#take(socket));
  }

  static async start(): Promise<RtmpSink> {
    const sink = new RtmpSink();
    await new Promise<void>((resolve) => sink.#server.listen(0, "127.0.0.1", resolve));
    return sink;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Number of current broadcasts. */
  get count(): number {
    return this.#sockets.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    const answer = (streamId: number, payload: Uint8Array) => {
      const header = { chunkStreamId: 3, typeId: MESSAGE.commandAmf0, timestamp: 0, streamId };
      socket.write(writeMessage({ ...header, payload }, 128));
    };
    let isTaken = false;
    const reader = new ChunkReader((typeId, _time, _stream, payload) => {
      if (typeId === MESSAGE.setChunkSize) reader.setChunkSize(readUint32(payload));
      if (typeId !== MESSAGE.commandAmf0) return;
      const { name, transactionId } = readCommand(payload, typeId);
      if (name === "connect") answer(0, writeCommand("_result", transactionId, {}, {}));
      if (name === "createStream") answer(0, writeCommand("_result", transactionId, null, 1));
      if (name !== "publish") return;
      answer(1, writeCommand("onStatus", 0, null, { level: "status", code: "NetStream.Publish.Start" }));
      isTaken = true;
    });
    let hello = Buffer.alloc(0);
    let isGreeted = false;
    socket.on("data", (bytes) => {
      if (isTaken) return;
      if (isGreeted) return reader.push(bytes);
      const before = hello.length;
      hello = Buffer.concat([hello, bytes]);
      if (before < CLIENT_HELLO_BYTES && hello.length >= CLIENT_HELLO_BYTES) {
        socket.write(answerHandshake(hello.subarray(0, CLIENT_HELLO_BYTES), HANDSHAKE_CRYPTO));
      }
      if (hello.length < CLIENT_HELLO_BYTES + HANDSHAKE_BYTES) return;
      isGreeted = true;
      reader.push(hello.subarray(CLIENT_HELLO_BYTES + HANDSHAKE_BYTES));
    });
  }
}
