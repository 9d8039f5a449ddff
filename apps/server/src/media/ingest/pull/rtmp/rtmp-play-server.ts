import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import {
  type AmfValue,
  answerHandshake,
  ChunkReader,
  CLIENT_HELLO_BYTES,
  type Command,
  HANDSHAKE_BYTES,
  MESSAGE,
  readCommand,
  writeCommand,
  writeMessage,
} from "@weir/formats/rtmp";
import { HANDSHAKE_CRYPTO } from "../../../../platform/handshake-crypto.ts";

/** One player, as the server of a test sees it. */
export class RtmpViewer {
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  command(name: string, transactionId: number, ...values: AmfValue[]): void {
    this.message(MESSAGE.commandAmf0, 0, writeCommand(name, transactionId, ...values));
  }

  status(code: string, level = "status"): void {
    this.command("onStatus", 0, null, { level, code, description: "the server's own words" });
  }

  message(typeId: number, timestamp: number, payload: Uint8Array): void {
    this.socket.write(writeMessage({ chunkStreamId: 4, typeId, timestamp, streamId: 1, payload }, 128));
  }
}

/** What a test answers to a command; true where it did. */
export type PlayScript = (command: Command, viewer: RtmpViewer) => boolean;

/** An RTMP server that does what a test says; without a word of it, what servers do until `play`. */
export class RtmpPlayServer implements AsyncDisposable {
  readonly asked: Command[] = [];
  readonly sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #script: PlayScript;

  static async start(script: PlayScript, secure?: { key: string; cert: string }): Promise<RtmpPlayServer> {
    const server = new RtmpPlayServer(script, secure);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  private constructor(script: PlayScript, secure?: { key: string; cert: string }) {
    this.#script = script;
    const serve = (socket: Socket) => this.#serve(socket);
    this.#server = secure ? createTlsServer(secure, serve) : createServer(serve);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("error", () => {});
    const viewer = new RtmpViewer(socket);
    const reader = new ChunkReader((typeId, _time, _stream, payload) => {
      if (typeId === MESSAGE.commandAmf0) this.#answer(readCommand(payload, typeId), viewer);
    });
    let hello = Buffer.alloc(0);
    let left = HANDSHAKE_BYTES;
    socket.on("data", (bytes: Buffer) => {
      if (hello.byteLength < CLIENT_HELLO_BYTES) {
        hello = Buffer.concat([hello, bytes]);
        if (hello.byteLength < CLIENT_HELLO_BYTES) return;
        socket.write(answerHandshake(hello.subarray(0, CLIENT_HELLO_BYTES), HANDSHAKE_CRYPTO));
        bytes = hello.subarray(CLIENT_HELLO_BYTES);
      }
      const rest = bytes.subarray(left);
      left = Math.max(0, left - bytes.byteLength);
      reader.push(rest);
    });
  }

  #answer(command: Command, viewer: RtmpViewer): void {
    this.asked.push(command);
    const { name, transactionId } = command;
    if (this.#script(command, viewer)) return;
    if (name === "connect") viewer.command("_result", transactionId, {}, { code: "NetConnection.Connect.Success" });
    if (name === "createStream") viewer.command("_result", transactionId, null, 1);
    if (name === "play") viewer.status("NetStream.Play.Start");
  }
}
