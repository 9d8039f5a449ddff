import { createHmac, randomBytes } from "node:crypto";
import {
  type AmfValue,
  answerHandshake,
  ChunkReader,
  CLIENT_HELLO_BYTES,
  type Command,
  HANDSHAKE_BYTES,
  MESSAGE,
  peerBandwidthPayload,
  readCommand,
  readUint32,
  USER_CONTROL,
  uint32Payload,
  userControlPayload,
  writeCommand,
  writeMessage,
} from "@weir/formats/rtmp";

const OUT_CHUNK_SIZE = 4096;
const WINDOW_BYTES = 2_500_000;
const CONTROL_CHUNKS = 2;
const COMMAND_CHUNKS = 3;
const STATUS_CHUNKS = 5;
const MEDIA_STREAM = 1;
/** Maximum message size before the sender may publish: commands are far shorter. */
const MAX_COMMAND_BYTES = 16 * 1024;
/** Memory allocated when a message's header arrives: little before the key was accepted, a whole frame for a publisher. */
const COMMAND_START_BYTES = 512;
const MEDIA_START_BYTES = 64 * 1024;
const MAX_MEDIA_BYTES = 12 * 1024 * 1024;

const CRYPTO = {
  hmacSha256: (key: Uint8Array, data: Uint8Array): Uint8Array => createHmac("sha256", key).update(data).digest(),
  random: (bytes: number): Uint8Array => new Uint8Array(randomBytes(bytes)),
};

/** The events of a session. */
export interface RtmpSessionHandler {
  /** `connect` for this application. */
  connect(app: string): void;
  /** `publish` with this name, which may be of any type. */
  publish(name: AmfValue): void;
  /** The publisher ended its stream explicitly. */
  unpublish(): void;
  /** `play` and similar commands, which this server does not support. */
  unsupported(command: string): void;
  media(kind: "video" | "audio", timestamp: number, payload: Uint8Array): void;
  /** The AMF0 body of a data message. */
  data(payload: Uint8Array): void;
  handshaken(): void;
  write(bytes: Uint8Array): void;
}

/**
 * The server side of an RTMP connection, without I/O: handshake (C0 C1, then C2), then chunks. It handles control messages and passes on commands
 * and media. Throws `FormatError` for protocol violations.
 */
export class RtmpSession {
  readonly #handler: RtmpSessionHandler;
  readonly #reader: ChunkReader;
  #handshake: Uint8Array | null = new Uint8Array(CLIENT_HELLO_BYTES + HANDSHAKE_BYTES);
  #handshakeFilled = 0;
  #isAnswered = false;
  #window = WINDOW_BYTES;
  #received = 0;
  #acknowledged = 0;
  #acknowledges = true;
  #mediaStreamId = MEDIA_STREAM;

  /** `allocate` provides the memory of messages. */
  constructor(handler: RtmpSessionHandler, allocate: (bytes: number) => Uint8Array) {
    this.#handler = handler;
    this.#reader = new ChunkReader(
      (type, time, stream, payload) => this.#message(type, time, stream, payload),
      allocate,
    );
    this.#reader.maxMessageBytes = MAX_COMMAND_BYTES;
    this.#reader.startBytes = COMMAND_START_BYTES;
  }

  push(bytes: Uint8Array): void {
    const rest = this.#handshake ? this.#shakeHands(this.#handshake, bytes) : bytes;
    if (rest.byteLength === 0) return;
    this.#received += rest.byteLength;
    this.#reader.push(rest);
    this.#acknowledge();
  }

  /** Bytes left of the current message; 0 between messages. */
  get missing(): number {
    return this.#reader.missing;
  }

  /** Buffers everything after the current message without parsing it. The caller must stop reading, so at most one socket buffer is held. */
  hold(): void {
    this.#reader.pause();
  }

  /** Sends no acknowledgements until `acknowledgeAgain`. */
  stopAcknowledging(): void {
    this.#acknowledges = false;
  }

  acknowledgeAgain(): void {
    this.#acknowledges = true;
    this.#acknowledge();
  }

  /** Continues after `hold`. Throws like `push`. */
  readOn(): void {
    this.#reader.resume();
  }

  /** The publisher may publish: continues, and accepts messages of media size. Throws like `push`. */
  takeMedia(): void {
    this.#reader.maxMessageBytes = MAX_MEDIA_BYTES;
    this.#reader.startBytes = MEDIA_START_BYTES;
    this.#reader.resume();
  }

  /** Sends the state of the publisher's stream (`NetStream.…`), with a description for the broadcaster. */
  status(level: "status" | "error", code: string, description: string): void {
    this.#send(
      STATUS_CHUNKS,
      MESSAGE.commandAmf0,
      this.#mediaStreamId,
      writeCommand("onStatus", 0, null, { level, code, description }),
    );
  }

  /** Rejects `connect`. */
  rejectConnect(description: string): void {
    const info = { level: "error", code: "NetConnection.Connect.Rejected", description };
    this.#send(COMMAND_CHUNKS, MESSAGE.commandAmf0, 0, writeCommand("_error", 1, null, info));
  }

  /** Handles C0, C1 and C2. Returns the bytes after them. */
  #shakeHands(known: Uint8Array, bytes: Uint8Array): Uint8Array {
    const taken = Math.min(known.byteLength - this.#handshakeFilled, bytes.byteLength);
    known.set(bytes.subarray(0, taken), this.#handshakeFilled);
    this.#handshakeFilled += taken;
    if (!this.#isAnswered && (this.#handshakeFilled >= CLIENT_HELLO_BYTES || known[0] !== 3)) {
      this.#isAnswered = true;
      this.#handler.write(answerHandshake(known.subarray(0, CLIENT_HELLO_BYTES), CRYPTO));
    }
    if (this.#handshakeFilled === known.byteLength) {
      this.#handshake = null;
      this.#handler.handshaken();
    }
    return bytes.subarray(taken);
  }

  #message(typeId: number, timestamp: number, streamId: number, payload: Uint8Array): void {
    switch (typeId) {
      case MESSAGE.video:
        return this.#handler.media("video", timestamp, payload);
      case MESSAGE.audio:
        return this.#handler.media("audio", timestamp, payload);
      case MESSAGE.dataAmf0:
        return this.#handler.data(payload);
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
        return this.#command(readCommand(payload, typeId), streamId);
      default: // other messages are ignored
    }
  }

  #command({ name, transactionId, object, args }: Command, streamId: number): void {
    switch (name) {
      case "connect":
        return this.#connect(transactionId, object);
      case "createStream":
        return this.#result(transactionId, null, MEDIA_STREAM);
      case "releaseStream":
      case "FCPublish":
      case "_checkbw":
      case "getStreamLength":
        return this.#result(transactionId, null);
      case "publish":
        this.#mediaStreamId = streamId || MEDIA_STREAM;
        return this.#handler.publish(args[0]);
      case "FCUnpublish":
      case "closeStream":
      case "deleteStream":
        return this.#handler.unpublish();
      case "play":
      case "play2":
      case "seek":
      case "pause":
        return this.#handler.unsupported(name);
      default: // responses, and commands that need none
    }
  }

  #connect(transactionId: number, object: AmfValue): void {
    const app = object && typeof object === "object" && !Array.isArray(object) ? object.app : undefined;
    this.#send(CONTROL_CHUNKS, MESSAGE.windowAckSize, 0, uint32Payload(WINDOW_BYTES));
    this.#send(CONTROL_CHUNKS, MESSAGE.setPeerBandwidth, 0, peerBandwidthPayload(WINDOW_BYTES));
    this.#send(CONTROL_CHUNKS, MESSAGE.setChunkSize, 0, uint32Payload(OUT_CHUNK_SIZE));
    this.#handler.connect(typeof app === "string" ? app : "");
    const server = { fmsVer: "FMS/3,5,7,7009", capabilities: 31, fourCcList: ["avc1", "hvc1", "av01", "mp4a"] };
    const info = {
      level: "status",
      code: "NetConnection.Connect.Success",
      description: "Connected.",
      objectEncoding: 0,
    };
    this.#result(transactionId, server, info);
  }

  #userControl(payload: Uint8Array): void {
    if (payload.byteLength < 6 || ((payload[0] ?? 0) << 8) + (payload[1] ?? 0) !== USER_CONTROL.pingRequest) return;
    const answer = userControlPayload(USER_CONTROL.pingResponse, readUint32(payload.subarray(2)));
    this.#send(CONTROL_CHUNKS, MESSAGE.userControl, 0, answer);
  }

  #acknowledge(): void {
    if (!this.#acknowledges || this.#received - this.#acknowledged < this.#window) return;
    this.#acknowledged = this.#received;
    this.#send(CONTROL_CHUNKS, MESSAGE.acknowledgement, 0, uint32Payload(this.#received >>> 0));
  }

  #result(transactionId: number, ...values: readonly AmfValue[]): void {
    this.#send(COMMAND_CHUNKS, MESSAGE.commandAmf0, 0, writeCommand("_result", transactionId, ...values));
  }

  #send(chunkStreamId: number, typeId: number, streamId: number, payload: Uint8Array): void {
    // Control messages are shorter than any chunk size, so their order relative to Set Chunk Size does not matter.
    this.#handler.write(writeMessage({ chunkStreamId, typeId, timestamp: 0, streamId, payload }, this.#outChunkSize));
    if (typeId === MESSAGE.setChunkSize) this.#outChunkSize = OUT_CHUNK_SIZE;
  }
  #outChunkSize = 128;
}
