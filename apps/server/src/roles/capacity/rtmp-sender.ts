import { once } from "node:events";
import { connect, type Socket } from "node:net";
import {
  ChunkReader,
  clientHello,
  HANDSHAKE_BYTES,
  MESSAGE,
  readCommand,
  readUint32,
  uint32Payload,
  writeCommand,
  writeMessage,
} from "@weir/formats/rtmp";
import { HANDSHAKE_CRYPTO } from "../../platform/handshake-crypto.ts";
import type { Clip } from "./clip.ts";

const CHUNK_SIZE = 4096;
const ANSWER_BYTES = 1 + 2 * HANDSHAKE_BYTES;
const ACCEPTED_WITHIN_MS = 10_000;
/** A publisher without an encoder: sends a clip repeatedly, each message when due. Many senders fit into one process. */
export class RtmpSender {
  /** `performance.now()` when the connection was opened, and when the first message was due. */
  readonly connectedAt = performance.now();
  startedAt = 0;
  readonly #socket: Socket;
  readonly #clip: Clip;
  #timer: NodeJS.Timeout | null = null;
  #next = 0;
  #round = 0;

  private constructor(socket: Socket, clip: Clip) {
    this.#socket = socket;
    this.#clip = clip;
  }

  /** Resolves when the server has accepted the stream and the clip plays. `url` is `rtmp://host:port/app/key`, `localAddress` what the server sees. Throws with the server's reason. */
  static async start(url: string, clip: Clip, localAddress?: string): Promise<RtmpSender> {
    const { hostname, port, pathname } = new URL(url);
    const [, app = "", ...name] = pathname.split("/");
    const socket = connect({ port: Number(port || 1935), host: hostname, localAddress }).setNoDelay(true);
    const sender = new RtmpSender(socket, clip);
    socket.on("error", () => {}); // "close" follows
    await once(socket, "connect");
    await sender.#publish(app, name.join("/"), `${hostname}:${port}`);
    sender.startedAt = performance.now();
    sender.#send();
    return sender;
  }

  /** Sends the same bytes without handshake and commands, to a receiver that does not parse them. */
  static async startRaw(port: number, clip: Clip): Promise<RtmpSender> {
    const socket = connect(port, "127.0.0.1").setNoDelay(true);
    const sender = new RtmpSender(socket, clip);
    socket.on("error", () => {}); // "close" follows
    await once(socket, "connect");
    socket.resume();
    sender.startedAt = performance.now();
    sender.#send();
    return sender;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Ends the broadcast as an encoder's stop button does. */
  async stop(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#socket.destroyed) return;
    const closed = once(this.#socket, "close");
    this.#write(MESSAGE.commandAmf0, 0, 0, writeCommand("deleteStream", 0, null, 1));
    this.#socket.end();
    await closed;
  }

  async #publish(app: string, name: string, host: string): Promise<void> {
    const accepted = Promise.withResolvers<void>();
    const deadline = setTimeout(() => accepted.reject(new Error("the server did not answer")), ACCEPTED_WITHIN_MS);
    this.#socket.once("close", () => accepted.reject(new Error("the server closed the connection")));
    const reader = new ChunkReader((typeId, _time, _stream, payload) => {
      if (typeId === MESSAGE.setChunkSize) reader.setChunkSize(readUint32(payload));
      if (typeId !== MESSAGE.commandAmf0) return;
      const { name: command, args, transactionId } = readCommand(payload, typeId);
      if (command === "_result" && transactionId === 1) {
        this.#write(MESSAGE.commandAmf0, 0, 0, writeCommand("createStream", 2, null));
      } else if (command === "_result" && transactionId === 2) {
        this.#write(MESSAGE.commandAmf0, 0, 1, writeCommand("publish", 3, null, name, "live"));
      } else if (command === "onStatus" || command === "_error") {
        const told = JSON.stringify(args[0]);
        if (told.includes("Publish.Start")) accepted.resolve();
        else accepted.reject(new Error(told));
      }
    });
    let answered = 0;
    this.#socket.on("data", (bytes) => {
      const ofHandshake = Math.min(bytes.byteLength, ANSWER_BYTES - answered);
      answered += ofHandshake;
      if (bytes.byteLength > ofHandshake) reader.push(bytes.subarray(ofHandshake));
    });
    const hello = clientHello(HANDSHAKE_CRYPTO, false);
    const object = { app, type: "nonprivate", tcUrl: `rtmp://${host}/${app}` };
    // Servers accept any C2, so there is no need to wait for S1.
    this.#socket.write(Buffer.concat([hello, hello.subarray(1)]));
    this.#write(MESSAGE.setChunkSize, 0, 0, uint32Payload(CHUNK_SIZE), 128);
    this.#write(MESSAGE.commandAmf0, 0, 0, writeCommand("connect", 1, object));
    await accepted.promise.finally(() => clearTimeout(deadline));
  }

  #send(): void {
    if (this.#socket.destroyed) return;
    const { messages, durationMs } = this.#clip;
    this.#socket.cork();
    for (;;) {
      const message = messages[this.#next];
      const now = performance.now() - this.startedAt;
      const dueAt = this.#round * durationMs + (message?.timeMs ?? durationMs);
      if (dueAt > now) {
        this.#socket.uncork();
        this.#timer = setTimeout(() => this.#send(), dueAt - now);
        return;
      }
      if (!message) {
        this.#next = 0;
        this.#round++;
        continue;
      }
      this.#next++;
      if (this.#round === 0 || !message.isSetup) this.#write(message.typeId, dueAt, 1, message.payload);
    }
  }

  #write(typeId: number, timestamp: number, streamId: number, payload: Uint8Array, chunkSize = CHUNK_SIZE): void {
    this.#socket.write(writeMessage({ chunkStreamId: 4, typeId, timestamp, streamId, payload }, chunkSize));
  }
}
