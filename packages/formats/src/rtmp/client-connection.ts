import { FormatError } from "../bits/index.ts";
import type { AmfObject, AmfValue } from "./amf0.ts";
import type { Allocate } from "./chunk-reader.ts";
import { clientHello, HANDSHAKE_BYTES, type HandshakeCrypto } from "./handshake.ts";
import { type Command, MESSAGE, readCommand } from "./message.ts";
import { MessageLine } from "./message-line.ts";

/** S0, S1 and S2. */
const ANSWER_BYTES = 1 + 2 * HANDSHAKE_BYTES;
/** Larger than any message that a server sends beside media. */
const MAX_MESSAGE_BYTES = 64 * 1024;
const [CONNECT, CREATE_STREAM] = [1, 4];

/** The addressing parts of an RTMP URL. */
export interface RtmpPlace {
  readonly app: string;
  /** The URL without the stream name. */
  readonly tcUrl: string;
  /** The stream name, which is usually the stream key. */
  readonly streamName: string;
}

/** What a kind of client does on its connection. */
export interface ClientUse {
  /** What it says of itself in `connect`. */
  readonly description: AmfObject;
  write(bytes: Uint8Array): void;
  /** `connect` succeeded. `createStream` follows. */
  connected(): void;
  /** There is a stream with this id. */
  created(streamId: number): void;
  /** `onStatus`. */
  status(info: AmfObject): void;
  /** Another message than those that every client handles. The receiver owns the payload. */
  message(typeId: number, timestamp: number, payload: Uint8Array): void;
  /** The server refused or closed, in its own words; nothing more is read. `info`: what it told with them. */
  refused(reason: string, info: AmfObject): void;
}

/** The client side of an RTMP connection, without I/O: handshake, `connect`, `createStream`. Throws `FormatError` if the server does not speak RTMP. */
export class ClientConnection {
  readonly #use: ClientUse;
  readonly #place: RtmpPlace;
  readonly line: MessageLine;
  /** S0, S1 and S2 as received; null after the handshake. */
  #answer: Uint8Array | null = new Uint8Array(ANSWER_BYTES);
  #answered = 0;
  #streamId = 0;

  constructor(use: ClientUse, place: RtmpPlace, allocate?: Allocate) {
    this.#use = use;
    this.#place = place;
    this.line = new MessageLine(
      {
        write: (bytes) => use.write(bytes),
        message: (typeId, time, _streamId, payload) => this.#message(typeId, time, payload),
      },
      allocate,
    );
    this.line.reader.maxMessageBytes = MAX_MESSAGE_BYTES;
  }

  /** 0 before there is one. */
  get streamId(): number {
    return this.#streamId;
  }

  /** Sends C0 and C1. */
  start(crypto: HandshakeCrypto): void {
    this.#use.write(clientHello(crypto, false));
  }

  push(bytes: Uint8Array): void {
    this.line.push(this.#answer ? this.#shakeHands(this.#answer, bytes) : bytes);
  }

  /** Returns the bytes after the handshake. */
  #shakeHands(answer: Uint8Array, bytes: Uint8Array): Uint8Array {
    const taken = Math.min(ANSWER_BYTES - this.#answered, bytes.byteLength);
    answer.set(bytes.subarray(0, taken), this.#answered);
    this.#answered += taken;
    if (answer[0] !== 3) throw new FormatError("RTMP", 0);
    if (this.#answered === ANSWER_BYTES) {
      this.#answer = null;
      // C2 repeats S1 (RTMP 1.0, 5.2.4).
      this.#use.write(answer.slice(1, 1 + HANDSHAKE_BYTES));
      const { app, tcUrl } = this.#place;
      this.line.command(0, "connect", CONNECT, {
        ...{ app, tcUrl, fourCcList: ["avc1", "hvc1", "av01", "mp4a"] },
        ...this.#use.description,
      });
    }
    return bytes.subarray(taken);
  }

  #message(typeId: number, timestamp: number, payload: Uint8Array): void {
    if (typeId === MESSAGE.commandAmf0 || typeId === MESSAGE.commandAmf3)
      return this.#commanded(readCommand(payload, typeId));
    this.#use.message(typeId, timestamp, payload);
  }

  #commanded({ name, transactionId, args }: Command): void {
    if (name === "_result" && transactionId === CONNECT) {
      this.#use.connected();
      this.line.command(0, "createStream", CREATE_STREAM, null);
    } else if (name === "_result" && transactionId === CREATE_STREAM) this.#created(args[0]);
    else if (name === "_error" && (transactionId === CONNECT || transactionId === CREATE_STREAM))
      this.#refuse(reasonOf(args[0]), objectOf(args[0]));
    else if (name === "onStatus") {
      const info = objectOf(args[0]);
      if (info.level === "error") this.#refuse(reasonOf(info), info);
      else this.#use.status(info);
    } else if (name === "close") this.#refuse("it closed the connection");
  }

  #created(streamId: AmfValue): void {
    if (this.#streamId !== 0) return;
    this.#streamId = typeof streamId === "number" && streamId > 0 && streamId < 2 ** 31 ? Math.floor(streamId) : 1;
    this.#use.created(this.#streamId);
  }

  #refuse(reason: string, info: AmfObject = {}): void {
    this.line.end();
    this.#use.refused(reason, info);
  }
}

export function objectOf(value: AmfValue): AmfObject {
  return value && typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** Whether the server names another address: only who gave the address may change it. */
export const isRedirect = ({ ex }: AmfObject): boolean => typeof objectOf(ex).redirect === "string";

/** The server's reason for a refusal. A redirect counts as one. */
function reasonOf(value: AmfValue): string {
  const info = objectOf(value);
  const { description, code } = info;
  if (isRedirect(info)) return "it redirects to another address, which is not followed";
  if (typeof description === "string" && description !== "") return description;
  return typeof code === "string" && code !== "" ? code : "it refused without a reason";
}
