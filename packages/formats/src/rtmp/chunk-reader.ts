import { FormatError } from "../bits/index.ts";

/** Receives each complete message. The receiver owns the payload. */
export type MessageHandler = (typeId: number, timestamp: number, streamId: number, payload: Uint8Array) => void;

export type Allocate = (bytes: number) => Uint8Array;

const MAX_MESSAGE_BYTES = 12 * 1024 * 1024;
const MAX_CHUNK_SIZE = 0xffffff;
const MAX_CHUNK_STREAMS = 64;
const START_BYTES = 64 * 1024;
/** Basic header 3, message header 11, extended timestamp 4 bytes. */
const MAX_HEADER = 18;
const EXTENDED = 0xffffff;
const MESSAGE_HEADER_BYTES = [11, 7, 3, 0] as const;
/** For fewer bytes, a loop is faster than `set` with a subarray. */
const SHORT_COPY = 32;
const EMPTY = new Uint8Array(0);

/** State of a chunk stream: its last header (RTMP 1.0, 5.3.1.2) and its unfinished message. */
interface ChunkStream {
  timestamp: number;
  delta: number;
  length: number;
  typeId: number;
  streamId: number;
  /** The extended timestamp as sent; -1 without one. */
  extended: number;
  payload: Uint8Array;
  filled: number;
  isOpen: boolean;
}

/**
 * Reads RTMP chunks (RTMP 1.0, 5.3) from socket buffers. It parses headers in place and copies each payload byte once, into a buffer of the
 * message's size; it keeps no reference to a socket buffer. Throws `FormatError` for input that violates the protocol or its limits.
 */
export class ChunkReader {
  /** Longer messages are refused. Unfinished messages together may hold twice as much, counted by the bytes received. */
  maxMessageBytes = MAX_MESSAGE_BYTES;
  /** Messages up to this size are allocated when their header is read; buffers of longer ones grow with the data received. */
  startBytes = START_BYTES;
  readonly #onMessage: MessageHandler;
  readonly #allocate: Allocate;
  readonly #streams = new Map<number, ChunkStream>();
  readonly #tail = new Uint8Array(MAX_HEADER);
  #tailLength = 0;
  #chunkSize = 128;
  #current: ChunkStream | null = null;
  /** Payload bytes left in the current chunk. */
  #chunkLeft = 0;
  #pendingBytes = 0;
  #bytesRead = 0;
  #isPaused = false;
  #held: Uint8Array[] = [];

  constructor(onMessage: MessageHandler, allocate: Allocate = (bytes) => new Uint8Array(bytes)) {
    this.#onMessage = onMessage;
    this.#allocate = allocate;
  }

  /** Applies the peer's Set Chunk Size. Throws `FormatError` for 0, a set top bit, and 16 MiB or more. */
  setChunkSize(size: number): void {
    if (size < 1 || size > MAX_CHUNK_SIZE)
      throw new FormatError(`a chunk size from 1 to ${MAX_CHUNK_SIZE}`, this.#bytesRead);
    this.#chunkSize = size;
  }

  /** Applies the peer's Abort Message: drops the unfinished message of this chunk stream. */
  abort(chunkStreamId: number): void {
    const stream = this.#streams.get(chunkStreamId);
    if (stream) this.#close(stream);
  }

  /** Payload bytes that the current message still needs: 0 between messages, 1 when unknown, for example within a header. */
  get missing(): number {
    if (this.#isPaused) return 1;
    if (this.#current) return this.#current.length - this.#current.filled;
    return this.#pendingBytes > 0 || this.#tailLength > 0 ? 1 : 0;
  }

  /** Delivers no messages until `resume`. Bytes pushed meanwhile are buffered, so the caller must stop the sender too. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const bytes of this.#held.splice(0)) this.#read(bytes);
  }

  push(bytes: Uint8Array): void {
    this.#bytesRead += bytes.byteLength;
    this.#read(bytes);
  }

  #read(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.byteLength) {
      if (this.#isPaused) {
        this.#held.push(new Uint8Array(bytes.subarray(at))); // not `slice`, which on a Buffer does not copy
        return;
      }
      if (this.#current) {
        at = this.#readPayload(this.#current, bytes, at);
        continue;
      }
      const next =
        this.#tailLength === 0 ? this.#readHeader(bytes, at, bytes.byteLength) : this.#readSplitHeader(bytes, at);
      if (next < 0) {
        if (this.#tailLength === 0) this.#keepTail(bytes, at);
        break;
      }
      at = next;
    }
  }

  #keepTail(bytes: Uint8Array, from: number): void {
    this.#tailLength = bytes.byteLength - from;
    for (let i = 0; i < this.#tailLength; i++) this.#tail[i] = bytes[from + i] ?? 0;
  }

  /** Reads a header that started in an earlier buffer. Returns the offset of its chunk's payload in `bytes`, or -1 if still incomplete. */
  #readSplitHeader(bytes: Uint8Array, from: number): number {
    const known = this.#tailLength;
    const taken = Math.min(MAX_HEADER - known, bytes.byteLength - from);
    for (let i = 0; i < taken; i++) this.#tail[known + i] = bytes[from + i] ?? 0;
    const end = this.#readHeader(this.#tail, 0, known + taken);
    if (end < 0) {
      this.#tailLength = known + taken;
      return -1;
    }
    this.#tailLength = 0;
    if (end >= known) return from + end - known;
    // The tail was kept to check for a repeated extended timestamp, and there was none: these bytes are payload or the next header.
    this.#read(this.#tail.slice(end, known));
    return from;
  }

  /** Reads a header between `from` and `end` and starts its chunk. Returns the offset after it, or -1 if incomplete. */
  #readHeader(bytes: Uint8Array, from: number, end: number): number {
    const first = bytes[from] ?? 0;
    const format = first >> 6;
    let id = first & 0x3f;
    let at = from + 1;
    if (id === 0) {
      if (at + 1 > end) return -1;
      id = 64 + (bytes[at++] ?? 0);
    } else if (id === 1) {
      if (at + 2 > end) return -1;
      id = 64 + (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256;
      at += 2;
    }
    const size = MESSAGE_HEADER_BYTES[format] ?? 0;
    if (at + size > end) return -1;
    const known = this.#streams.get(id);
    const field = format < 3 ? uint24(bytes, at) : 0;
    const isExtended = format < 3 ? field === EXTENDED : known !== undefined && known.extended >= 0;
    let extended = -1;
    let after = at + size;
    if (isExtended) {
      if (after + 4 > end) return -1;
      extended = uint32(bytes, after);
      // Some senders omit it in continuation chunks; the four bytes are then payload.
      if (format < 3 || extended === known?.extended) after += 4;
      else extended = known?.extended ?? -1;
    }
    const stream = known ?? this.#open(id, format);
    if (format < 3) this.#setHeader(stream, format, bytes, at, extended >= 0 ? extended : field, extended);
    this.#beginChunk(stream, format);
    return after;
  }

  #open(id: number, format: number): ChunkStream {
    if (format === 3 || format === 2) throw new FormatError("a full header on a new chunk stream", this.#bytesRead);
    if (this.#streams.size >= MAX_CHUNK_STREAMS) {
      throw new FormatError(`at most ${MAX_CHUNK_STREAMS} chunk streams`, this.#bytesRead);
    }
    const stream: ChunkStream = {
      timestamp: 0,
      delta: 0,
      length: 0,
      typeId: 0,
      streamId: 0,
      extended: -1,
      payload: EMPTY,
      filled: 0,
      isOpen: false,
    };
    this.#streams.set(id, stream);
    return stream;
  }

  #setHeader(stream: ChunkStream, format: number, bytes: Uint8Array, at: number, time: number, extended: number): void {
    if (stream.isOpen) this.#close(stream);
    stream.extended = extended;
    if (format < 2) {
      stream.length = uint24(bytes, at + 3);
      stream.typeId = bytes[at + 6] ?? 0;
      if (stream.length > this.maxMessageBytes) {
        const expectation = `a message of at most ${this.maxMessageBytes} bytes, not ${stream.length},`;
        throw new FormatError(expectation, this.#bytesRead);
      }
    }
    if (format === 0) {
      stream.streamId = uint32LittleEndian(bytes, at + 7);
      stream.timestamp = time;
      stream.delta = 0;
    } else {
      stream.delta = time;
    }
  }

  #beginChunk(stream: ChunkStream, format: number): void {
    if (!stream.isOpen) {
      if (format !== 0) stream.timestamp = (stream.timestamp + stream.delta) >>> 0;
      stream.isOpen = true;
      stream.filled = 0;
      if (stream.length === 0) return this.#finish(stream);
      stream.payload = this.#allocate(Math.min(stream.length, this.startBytes));
    }
    this.#current = stream;
    this.#chunkLeft = Math.min(this.#chunkSize, stream.length - stream.filled);
  }

  #readPayload(stream: ChunkStream, bytes: Uint8Array, from: number): number {
    const count = Math.min(this.#chunkLeft, bytes.byteLength - from);
    if (stream.filled + count > stream.payload.byteLength) this.#grow(stream, count);
    if (count < SHORT_COPY) copyBytes(bytes, from, count, stream.payload, stream.filled);
    else stream.payload.set(bytes.subarray(from, from + count), stream.filled);
    stream.filled += count;
    this.#pendingBytes += count;
    this.#chunkLeft -= count;
    if (stream.filled === stream.length) {
      this.#current = null;
      this.#finish(stream);
    } else if (this.#chunkLeft === 0) {
      this.#current = null;
      const most = 2 * this.maxMessageBytes;
      if (this.#pendingBytes > most) {
        throw new FormatError(`at most ${most} bytes in unfinished messages`, this.#bytesRead);
      }
    }
    return from + count;
  }

  #grow(stream: ChunkStream, count: number): void {
    const wanted = Math.max(stream.filled + count, stream.payload.byteLength * 2);
    const larger = this.#allocate(Math.min(stream.length, wanted));
    larger.set(stream.payload.subarray(0, stream.filled));
    stream.payload = larger;
  }

  #finish(stream: ChunkStream): void {
    const { payload, typeId, timestamp, streamId } = stream;
    this.#close(stream);
    this.#onMessage(typeId, timestamp, streamId, payload);
  }

  #close(stream: ChunkStream): void {
    this.#pendingBytes -= stream.filled;
    stream.isOpen = false;
    stream.filled = 0;
    stream.payload = EMPTY;
    if (this.#current === stream) this.#current = null;
  }
}

function copyBytes(source: Uint8Array, from: number, count: number, target: Uint8Array, at: number): void {
  for (let i = 0; i < count; i++) target[at + i] = source[from + i] ?? 0;
}

function uint24(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
}

function uint32(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | uint24(bytes, at + 1)) >>> 0;
}

function uint32LittleEndian(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
  );
}
