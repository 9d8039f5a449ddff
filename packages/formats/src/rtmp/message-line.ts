import type { AmfValue } from "./amf0.ts";
import { type Allocate, ChunkReader } from "./chunk-reader.ts";
import { writeMessage } from "./chunk-writer.ts";
import {
  MESSAGE,
  peerBandwidthPayload,
  readUint32,
  USER_CONTROL,
  uint32Payload,
  userControlPayload,
  writeCommand,
} from "./message.ts";

const FIRST_CHUNK_SIZE = 128;
/** How much either side sends without an acknowledgement. */
const WINDOW_BYTES = 2_500_000;
const MIN_WINDOW_BYTES = 1024;
const CONTROL_CHUNKS = 2;
const COMMAND_CHUNKS = 3;

/** One side of a connection. */
export interface MessageLineUse {
  /** Acknowledges only what the other side asked for, by naming a window. Else a common window is assumed. */
  readonly acknowledgesOnRequest?: boolean;
  write(bytes: Uint8Array): void;
  /** A message that does not control the line. The receiver owns the payload. */
  message(typeId: number, timestamp: number, streamId: number, payload: Uint8Array): void;
}

/** What both sides of an RTMP connection do after the handshake: messages in chunks, and the messages that control them (RTMP 1.0, 5.4 and 7.1.7). */
export class MessageLine {
  readonly reader: ChunkReader;
  readonly #use: MessageLineUse;
  #chunkSize = FIRST_CHUNK_SIZE;
  /** How much the other side sends without an acknowledgement. */
  #window: number;
  #received = 0;
  #acknowledged = 0;
  #acknowledges = true;
  #isOver = false;

  /** `allocate` provides the memory of messages. */
  constructor(use: MessageLineUse, allocate?: Allocate) {
    this.#use = use;
    this.#window = use.acknowledgesOnRequest ? Number.POSITIVE_INFINITY : WINDOW_BYTES;
    this.reader = new ChunkReader(
      (typeId, time, streamId, payload) => this.#message(typeId, time, streamId, payload),
      allocate,
    );
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Nothing more is read. */
  end(): void {
    this.#isOver = true;
  }

  /** Throws `FormatError` for bytes that are no chunks. */
  push(bytes: Uint8Array): void {
    if (bytes.byteLength === 0 || this.#isOver) return;
    this.#received += bytes.byteLength;
    this.reader.push(bytes);
    this.#acknowledge();
  }

  /** Sends no acknowledgements until `acknowledgeAgain`. */
  stopAcknowledging(): void {
    this.#acknowledges = false;
  }

  acknowledgeAgain(): void {
    this.#acknowledges = true;
    this.#acknowledge();
  }

  /** How much this side wants to be acknowledged at a time. */
  setWindow(): void {
    this.control(MESSAGE.windowAckSize, uint32Payload(WINDOW_BYTES));
  }

  /** How much the other side may send without an acknowledgement. */
  setPeerBandwidth(): void {
    this.control(MESSAGE.setPeerBandwidth, peerBandwidthPayload(WINDOW_BYTES));
  }

  /** Sends in larger chunks from now on. */
  setChunkSize(size: number): void {
    this.control(MESSAGE.setChunkSize, uint32Payload(size));
    this.#chunkSize = size;
  }

  command(streamId: number, name: string, transactionId: number, ...values: readonly AmfValue[]): void {
    this.send(COMMAND_CHUNKS, MESSAGE.commandAmf0, streamId, writeCommand(name, transactionId, ...values));
  }

  control(typeId: number, payload: Uint8Array): void {
    this.send(CONTROL_CHUNKS, typeId, 0, payload);
  }

  send(chunkStreamId: number, typeId: number, streamId: number, payload: Uint8Array): void {
    this.#use.write(writeMessage({ chunkStreamId, typeId, timestamp: 0, streamId, payload }, this.#chunkSize));
  }

  #message(typeId: number, timestamp: number, streamId: number, payload: Uint8Array): void {
    if (this.#isOver) return;
    switch (typeId) {
      case MESSAGE.setChunkSize:
        return this.reader.setChunkSize(readUint32(payload));
      case MESSAGE.abort:
        return this.reader.abort(readUint32(payload));
      case MESSAGE.windowAckSize:
        this.#window = Math.max(MIN_WINDOW_BYTES, readUint32(payload));
        return;
      case MESSAGE.userControl:
        return this.#userControl(payload);
      default:
        return this.#use.message(typeId, timestamp, streamId, payload);
    }
  }

  #userControl(payload: Uint8Array): void {
    if (payload.byteLength < 6 || ((payload[0] ?? 0) << 8) + (payload[1] ?? 0) !== USER_CONTROL.pingRequest) return;
    const answer = userControlPayload(USER_CONTROL.pingResponse, readUint32(payload.subarray(2)));
    this.control(MESSAGE.userControl, answer);
  }

  #acknowledge(): void {
    if (this.#isOver || !this.#acknowledges || this.#received - this.#acknowledged < this.#window) return;
    this.#acknowledged = this.#received;
    this.control(MESSAGE.acknowledgement, uint32Payload(this.#received >>> 0));
  }
}
