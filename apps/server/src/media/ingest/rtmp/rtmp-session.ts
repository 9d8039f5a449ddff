import {
  type AmfValue,
  answerHandshake,
  CLIENT_HELLO_BYTES,
  type Command,
  HANDSHAKE_BYTES,
  MESSAGE,
  MessageLine,
  readCommand,
  writeCommand,
} from "@weir/formats/rtmp";
import { HANDSHAKE_CRYPTO } from "../../../platform/handshake-crypto.ts";

const OUT_CHUNK_SIZE = 4096;
const STATUS_CHUNKS = 5;
const MEDIA_STREAM = 1;
/** Maximum message size before the sender may publish: commands are far shorter. */
const MAX_COMMAND_BYTES = 16 * 1024;
/** Memory allocated when a message's header arrives: little before the key was accepted, a whole frame for a publisher. */
const COMMAND_START_BYTES = 512;
const MEDIA_START_BYTES = 64 * 1024;
const MAX_MEDIA_BYTES = 12 * 1024 * 1024;

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
 * The server side of an RTMP connection, without I/O: handshake (C0 C1, then C2), then messages. It answers commands and
 * passes media on. Throws `FormatError` for protocol violations.
 */
export class RtmpSession {
  readonly #handler: RtmpSessionHandler;
  readonly #line: MessageLine;
  #handshake: Uint8Array | null = new Uint8Array(CLIENT_HELLO_BYTES + HANDSHAKE_BYTES);
  #handshakeFilled = 0;
  #isAnswered = false;
  #mediaStreamId = MEDIA_STREAM;

  /** `allocate` provides the memory of messages. */
  constructor(handler: RtmpSessionHandler, allocate: (bytes: number) => Uint8Array) {
    this.#handler = handler;
    this.#line = new MessageLine(
      {
        // A client that closes with an acknowledgement unread resets its connection, and what it sent last is lost: that it stopped. FFmpeg's reads
        // only now and then, and never asks for any.
        acknowledgesOnRequest: true,
        write: (bytes) => handler.write(bytes),
        message: (type, time, stream, payload) => this.#message(type, time, stream, payload),
      },
      allocate,
    );
    this.#line.reader.maxMessageBytes = MAX_COMMAND_BYTES;
    this.#line.reader.startBytes = COMMAND_START_BYTES;
  }

  push(bytes: Uint8Array): void {
    this.#line.push(this.#handshake ? this.#shakeHands(this.#handshake, bytes) : bytes);
  }

  /** Bytes left of the current message; 0 between messages. */
  get missing(): number {
    return this.#line.reader.missing;
  }

  /** Buffers everything after the current message without parsing it. The caller must stop reading, so at most one socket buffer is held. */
  hold(): void {
    this.#line.reader.pause();
  }

  /** Sends no acknowledgements until `acknowledgeAgain`. */
  stopAcknowledging(): void {
    this.#line.stopAcknowledging();
  }

  acknowledgeAgain(): void {
    this.#line.acknowledgeAgain();
  }

  /** Continues after `hold`. Throws like `push`. */
  readOn(): void {
    this.#line.reader.resume();
  }

  /** The publisher may publish: continues, and accepts messages of media size. Throws like `push`. */
  takeMedia(): void {
    const { reader } = this.#line;
    reader.maxMessageBytes = MAX_MEDIA_BYTES;
    reader.startBytes = MEDIA_START_BYTES;
    reader.resume();
  }

  /** Sends the state of the publisher's stream (`NetStream.…`), with a description for the broadcaster. */
  status(level: "status" | "error", code: string, description: string): void {
    const info = writeCommand("onStatus", 0, null, { level, code, description });
    this.#line.send(STATUS_CHUNKS, MESSAGE.commandAmf0, this.#mediaStreamId, info);
  }

  /** Rejects `connect`. */
  rejectConnect(description: string): void {
    const info = { level: "error", code: "NetConnection.Connect.Rejected", description };
    this.#line.command(0, "_error", 1, null, info);
  }

  /** Handles C0, C1 and C2. Returns the bytes after them. */
  #shakeHands(known: Uint8Array, bytes: Uint8Array): Uint8Array {
    const taken = Math.min(known.byteLength - this.#handshakeFilled, bytes.byteLength);
    known.set(bytes.subarray(0, taken), this.#handshakeFilled);
    this.#handshakeFilled += taken;
    if (!this.#isAnswered && (this.#handshakeFilled >= CLIENT_HELLO_BYTES || known[0] !== 3)) {
      this.#isAnswered = true;
      this.#handler.write(answerHandshake(known.subarray(0, CLIENT_HELLO_BYTES), HANDSHAKE_CRYPTO));
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
    this.#line.setWindow();
    this.#line.setPeerBandwidth();
    this.#line.setChunkSize(OUT_CHUNK_SIZE);
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

  #result(transactionId: number, ...values: readonly AmfValue[]): void {
    this.#line.command(0, "_result", transactionId, ...values);
  }
}
