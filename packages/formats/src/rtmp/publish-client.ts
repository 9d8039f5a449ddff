import { type AmfObject, type AmfValue, writeAmf0 } from "./amf0.ts";
import { ChunkReader } from "./chunk-reader.ts";
import { type MessageHeader, writeMessage } from "./chunk-writer.ts";
import { clientHello, HANDSHAKE_BYTES, type HandshakeCrypto } from "./handshake.ts";
import {
  type Command,
  MESSAGE,
  readCommand,
  readUint32,
  USER_CONTROL,
  uint32Payload,
  userControlPayload,
  writeCommand,
} from "./message.ts";

/** Chunk size of a publishing client after `connect` succeeded. */
export const CLIENT_CHUNK_SIZE = 4096;
const FIRST_CHUNK_SIZE = 128;
/** S0, S1 and S2. */
const ANSWER_BYTES = 1 + 2 * HANDSHAKE_BYTES;
/** Larger than any message that a server sends to a publisher. */
const MAX_MESSAGE_BYTES = 64 * 1024;
const WINDOW_BYTES = 2_500_000;
/** AMF0 marker of the object type that servers expect for metadata. */
const ECMA_ARRAY = 0x08;
const CONTROL_CHUNKS = 2;
const COMMAND_CHUNKS = 3;
const [CONNECT, RELEASE, FC_PUBLISH, CREATE_STREAM, PUBLISH] = [1, 2, 3, 4, 5];

/** The addressing parts of an RTMP publish URL. */
export interface PublishAddress {
  readonly app: string;
  /** The URL without the stream name. */
  readonly tcUrl: string;
  /** The stream name, which is usually the stream key. */
  readonly streamName: string;
}

export interface PublishClientHandler {
  write(bytes: Uint8Array): void;
  /** The server accepts media, in messages with this stream id. */
  publishing(streamId: number): void;
  /** The server refused or ended the broadcast for `reason`, in its own words. Send nothing more. */
  refused(reason: string): void;
}

/**
 * The client side of RTMP publishing, without I/O: handshake, `connect`, `createStream`, `publish`. After `publishing` the owner sends the media.
 * Throws `FormatError` if the server does not speak RTMP.
 */
export class RtmpPublishClient {
  readonly #handler: PublishClientHandler;
  readonly #address: PublishAddress;
  readonly #reader: ChunkReader;
  /** S0, S1 and S2 as received; null after the handshake. */
  #answer: Uint8Array | null = new Uint8Array(ANSWER_BYTES);
  #answered = 0;
  #chunkSize = FIRST_CHUNK_SIZE;
  #streamId = 0;
  #isOver = false;
  #received = 0;
  #acknowledged = 0;
  #window = WINDOW_BYTES;

  constructor(handler: PublishClientHandler, address: PublishAddress) {
    this.#handler = handler;
    this.#address = address;
    this.#reader = new ChunkReader((typeId, _timestamp, _streamId, payload) => this.#message(typeId, payload));
    this.#reader.maxMessageBytes = MAX_MESSAGE_BYTES;
  }

  /** Sends C0 and C1. */
  start(crypto: HandshakeCrypto): void {
    this.#handler.write(clientHello(crypto, false));
  }

  push(bytes: Uint8Array): void {
    const rest = this.#answer ? this.#shakeHands(this.#answer, bytes) : bytes;
    if (rest.byteLength === 0 || this.#isOver) return;
    this.#received += rest.byteLength;
    this.#reader.push(rest);
    if (this.#isOver || this.#received - this.#acknowledged < this.#window) return;
    this.#acknowledged = this.#received;
    this.#control(MESSAGE.acknowledgement, uint32Payload(this.#received >>> 0));
  }

  /** Ends the broadcast explicitly, so that the server does not wait for a reconnect. */
  stop(): void {
    const { streamName } = this.#address;
    if (this.#isOver || this.#streamId === 0) return;
    this.#isOver = true;
    this.#command("FCUnpublish", PUBLISH + 1, null, streamName);
    this.#command("deleteStream", PUBLISH + 2, null, this.#streamId);
  }

  /** Returns the bytes after the handshake. */
  #shakeHands(answer: Uint8Array, bytes: Uint8Array): Uint8Array {
    const taken = Math.min(ANSWER_BYTES - this.#answered, bytes.byteLength);
    answer.set(bytes.subarray(0, taken), this.#answered);
    this.#answered += taken;
    if (answer[0] !== 3) return this.#refuse("it does not speak RTMP");
    if (this.#answered < ANSWER_BYTES) return bytes.subarray(taken);
    this.#answer = null;
    // C2 repeats S1 (RTMP 1.0, 5.2.4).
    this.#handler.write(answer.slice(1, 1 + HANDSHAKE_BYTES));
    const { app, tcUrl } = this.#address;
    this.#command("connect", CONNECT, {
      app,
      type: "nonprivate",
      flashVer: "FMLE/3.0 (compatible; Weir)",
      tcUrl,
      fourCcList: ["avc1", "hvc1", "av01", "mp4a"],
    });
    return bytes.subarray(taken);
  }

  #message(typeId: number, payload: Uint8Array): void {
    if (this.#isOver) return;
    switch (typeId) {
      case MESSAGE.setChunkSize:
        return this.#reader.setChunkSize(readUint32(payload));
      case MESSAGE.abort:
        return this.#reader.abort(readUint32(payload));
      case MESSAGE.windowAckSize:
        this.#window = Math.max(1024, readUint32(payload));
        return;
      case MESSAGE.userControl:
        return this.#userControl(payload);
      case MESSAGE.commandAmf0:
      case MESSAGE.commandAmf3:
        return this.#commanded(readCommand(payload, typeId));
      default: // a publisher needs no other message
    }
  }

  #commanded({ name, transactionId, args }: Command): void {
    if (name === "_result" && transactionId === CONNECT) this.#connected();
    else if (name === "_result" && transactionId === CREATE_STREAM) this.#created(args[0]);
    else if (name === "_error" && (transactionId === CONNECT || transactionId === CREATE_STREAM))
      this.#refuse(reasonOf(args[0]));
    else if (name === "onStatus") this.#status(args[0]);
    else if (name === "close") this.#refuse("it closed the connection");
  }

  #connected(): void {
    const { streamName } = this.#address;
    this.#control(MESSAGE.setChunkSize, uint32Payload(CLIENT_CHUNK_SIZE));
    this.#chunkSize = CLIENT_CHUNK_SIZE;
    this.#command("releaseStream", RELEASE, null, streamName);
    this.#command("FCPublish", FC_PUBLISH, null, streamName);
    this.#command("createStream", CREATE_STREAM, null);
  }

  #created(streamId: AmfValue): void {
    if (this.#streamId !== 0) return;
    this.#streamId = typeof streamId === "number" && streamId > 0 && streamId < 2 ** 31 ? Math.floor(streamId) : 1;
    this.#command("publish", PUBLISH, null, this.#address.streamName, "live");
  }

  #status(info: AmfValue): void {
    const { level, code } = objectOf(info);
    if (level === "error") return void this.#refuse(reasonOf(info));
    if (code === "NetStream.Publish.Start" && this.#streamId !== 0) this.#handler.publishing(this.#streamId);
  }

  #userControl(payload: Uint8Array): void {
    if (payload.byteLength < 6 || ((payload[0] ?? 0) << 8) + (payload[1] ?? 0) !== USER_CONTROL.pingRequest) return;
    const answer = userControlPayload(USER_CONTROL.pingResponse, readUint32(payload.subarray(2)));
    this.#control(MESSAGE.userControl, answer);
  }

  /** Returns no bytes, because nothing after a refusal is read. */
  #refuse(reason: string): Uint8Array {
    this.#isOver = true;
    this.#handler.refused(reason);
    return new Uint8Array(0);
  }

  #command(name: string, transactionId: number, ...values: readonly AmfValue[]): void {
    const streamId = name === "publish" ? this.#streamId : 0;
    const header = { chunkStreamId: COMMAND_CHUNKS, typeId: MESSAGE.commandAmf0, timestamp: 0, streamId };
    this.#send(header, writeCommand(name, transactionId, ...values));
  }

  #control(typeId: number, payload: Uint8Array): void {
    this.#send({ chunkStreamId: CONTROL_CHUNKS, typeId, timestamp: 0, streamId: 0 }, payload);
  }

  #send(header: MessageHeader, payload: Uint8Array): void {
    this.#handler.write(writeMessage({ ...header, payload }, this.#chunkSize));
  }
}

/** Payload of the data message that describes the media to a server (FLV 1.0, annex E.5). */
export function metadataPayload(metadata: AmfObject): Uint8Array {
  const [, ...properties] = writeAmf0(metadata);
  const count = Object.keys(metadata).length;
  return Uint8Array.from([...writeAmf0("@setDataFrame", "onMetaData"), ECMA_ARRAY, 0, 0, 0, count, ...properties]);
}

function objectOf(value: AmfValue): AmfObject {
  return value && typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** The server's reason for a refusal. A redirect counts as a refusal: only the owner of the broadcast may change its destination. */
function reasonOf(info: AmfValue): string {
  const { description, code, ex } = objectOf(info);
  if (typeof objectOf(ex).redirect === "string") return "it redirects to another address, which is not followed";
  if (typeof description === "string" && description !== "") return description;
  return typeof code === "string" && code !== "" ? code : "it refused without a reason";
}
