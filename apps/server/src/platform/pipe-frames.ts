/**
 * Binary frames over a pipe between this process and a child: a uint32 with the number of following bytes, a uint8 with the type, and the
 * payload. Big-endian.
 */

/** No access unit of an accepted source is larger: 100 Mbit/s at one frame per second is 12 MB. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const LENGTH_BYTES = 4;

/** Each frame's bytes are collected in a buffer of its own, so messages may keep views into it. */
export function frameReader<Message>(
  read: (body: Buffer) => Message,
  maxBytes = MAX_FRAME_BYTES,
): (bytes: Uint8Array) => Message[] {
  const length = Buffer.alloc(LENGTH_BYTES);
  let lengthBytes = 0;
  let body = Buffer.alloc(0);
  let bodyBytes = 0;
  return (bytes) => {
    const messages: Message[] = [];
    for (let offset = 0; offset < bytes.length; ) {
      if (lengthBytes < LENGTH_BYTES) {
        length[lengthBytes++] = bytes[offset++] ?? 0;
        if (lengthBytes < LENGTH_BYTES) continue;
        const size = sizeAt(length, 0, maxBytes);
        body = Buffer.allocUnsafe(size);
        bodyBytes = 0;
      }
      const part = bytes.subarray(offset, offset + body.length - bodyBytes);
      body.set(part, bodyBytes);
      bodyBytes += part.length;
      offset += part.length;
      if (bodyBytes < body.length) continue;
      messages.push(read(body));
      lengthBytes = 0;
    }
    return messages;
  };
}

/** Starts as large as most frames are, and grows to the largest one that came in two pieces. */
const FIRST_REST_BYTES = 64 * 1024;

/**
 * As `frameReader`, for messages that are done with at once: `take` gets each body as a view that is valid until it returns. Most views are of the
 * bytes that came, so that media costs no memory here.
 */
export function frameTaker(take: (body: Buffer) => void, maxBytes = MAX_FRAME_BYTES): (bytes: Uint8Array) => void {
  let rest = Buffer.alloc(FIRST_REST_BYTES);
  let restBytes = 0;
  /** The size of the frame in `rest`, without its length; null before that is known. */
  const restSize = (): number | null => (restBytes < LENGTH_BYTES ? null : sizeAt(rest, 0, maxBytes));
  const keep = (bytes: Uint8Array, start: number, end: number): void => {
    const room = Math.max(restBytes + end - start, LENGTH_BYTES + (restSize() ?? 0));
    if (room > rest.length) {
      const larger = Buffer.alloc(room);
      larger.set(rest.subarray(0, restBytes));
      rest = larger;
    }
    rest.set(bytes.subarray(start, end), restBytes);
    restBytes += end - start;
  };
  return (bytes) => {
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    while (restBytes > 0 && at < whole.length) {
      const wanted = LENGTH_BYTES + (restSize() ?? 0) - restBytes;
      const end = Math.min(whole.length, at + wanted);
      keep(whole, at, end);
      at = end;
      const size = restSize();
      if (size === null || restBytes < LENGTH_BYTES + size) continue;
      restBytes = 0;
      take(rest.subarray(LENGTH_BYTES, LENGTH_BYTES + size));
    }
    while (at + LENGTH_BYTES <= whole.length) {
      const end = at + LENGTH_BYTES + sizeAt(whole, at, maxBytes);
      if (end > whole.length) break;
      take(whole.subarray(at + LENGTH_BYTES, end));
      at = end;
    }
    if (at < whole.length) keep(whole, at, whole.length);
  };
}

function sizeAt(bytes: Buffer, at: number, maxBytes: number): number {
  const size = bytes.readUInt32BE(at);
  if (size < 1 || size > maxBytes) throw new RangeError(`a frame of ${size} bytes in a pipe`);
  return size;
}

export function jsonFrame(type: number, value: unknown): Uint8Array {
  const json = Buffer.from(JSON.stringify(value));
  return new FrameWriter(type, json.length).end(json);
}

const PLAIN = 1;
const WITH_DATA = 2;

/** A message of one protocol: JSON, and behind it the bytes of media that belong to it, if any. In a buffer of its own. */
export function messageFrame(message: unknown, data?: readonly Uint8Array[]): Uint8Array {
  if (!data) return jsonFrame(PLAIN, message);
  const dataBytes = data.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return Buffer.concat([messageHead(message, dataBytes), ...data]);
}

/** The same without its media: whoever writes it sends these bytes next, from where they are. */
export function messageHead(message: unknown, dataBytes: number): Uint8Array {
  const json = Buffer.from(JSON.stringify(message));
  const head = new FrameWriter(WITH_DATA, LENGTH_BYTES + json.length, dataBytes);
  head.uint32(json.length);
  return head.end(json);
}

/**
 * Returns a function that takes what a pipe brings, in pieces of any size, and returns the whole messages in it, the bytes as `data`. Throws for bytes
 * that are no message.
 */
export function messageReader<Message>(maxBytes?: number): (bytes: Uint8Array) => Message[] {
  return frameReader((body) => messageOf(body) as Message, maxBytes);
}

/** As `messageReader`, for messages that are done with at once: the `data` of each is a view that is valid until `take` returns. */
export function messageTaker<Message>(
  take: (message: Message) => void,
  maxBytes?: number,
): (bytes: Uint8Array) => void {
  return frameTaker((body) => take(messageOf(body) as Message), maxBytes);
}

function messageOf(body: Buffer): unknown {
  if (body[0] === PLAIN) return JSON.parse(body.toString("utf8", 1));
  if (body[0] !== WITH_DATA) throw new RangeError(`a frame of unknown type ${body[0]} in a pipe`);
  const end = 1 + LENGTH_BYTES + body.readUInt32BE(1);
  const message = JSON.parse(body.toString("utf8", 1 + LENGTH_BYTES, end));
  message.data = body.subarray(end);
  return message;
}

/** Writes one frame into a buffer of its own. */
export class FrameWriter {
  readonly #frame: Buffer;
  #offset = LENGTH_BYTES + 1;

  /** `elsewhereBytes`: of the payload's end, which is sent from another buffer. */
  constructor(type: number, payloadBytes: number, elsewhereBytes = 0) {
    this.#frame = Buffer.allocUnsafe(LENGTH_BYTES + 1 + payloadBytes);
    this.#frame.writeUInt32BE(1 + payloadBytes + elsewhereBytes, 0);
    this.#frame.writeUInt8(type, LENGTH_BYTES);
  }

  uint8(value: number): void {
    this.#offset = this.#frame.writeUInt8(value, this.#offset);
  }

  uint32(value: number): void {
    this.#offset = this.#frame.writeUInt32BE(value, this.#offset);
  }

  float64(value: number): void {
    this.#offset = this.#frame.writeDoubleBE(value, this.#offset);
  }

  bytes(value: Uint8Array): void {
    this.#frame.set(value, this.#offset);
    this.#offset += value.length;
  }

  end(rest?: Uint8Array): Uint8Array {
    if (rest) this.#frame.set(rest, this.#offset);
    return this.#frame;
  }
}
