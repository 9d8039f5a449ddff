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
        const size = length.readUInt32BE();
        if (size < 1 || size > maxBytes) throw new RangeError(`a frame of ${size} bytes in a pipe`);
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

export function jsonFrame(type: number, value: unknown): Uint8Array {
  const json = Buffer.from(JSON.stringify(value));
  return new FrameWriter(type, json.length).end(json);
}

const PLAIN = 1;
const WITH_DATA = 2;

/** A message of one protocol: JSON, and behind it the bytes of media that belong to it, if any. In a buffer of its own. */
export function messageFrame(message: unknown, data?: readonly Uint8Array[]): Uint8Array {
  if (!data) return jsonFrame(PLAIN, message);
  const json = Buffer.from(JSON.stringify(message));
  const dataBytes = data.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const frame = new FrameWriter(WITH_DATA, LENGTH_BYTES + json.length + dataBytes);
  frame.uint32(json.length);
  for (const piece of [json, ...data]) frame.bytes(piece);
  return frame.end();
}

/**
 * Returns a function that takes what a pipe brings, in pieces of any size, and returns the whole messages in it, the bytes as `data`. Throws for bytes
 * that are no message.
 */
export function messageReader<Message>(maxBytes?: number): (bytes: Uint8Array) => Message[] {
  return frameReader((body) => {
    if (body[0] === PLAIN) return JSON.parse(body.toString("utf8", 1));
    if (body[0] !== WITH_DATA) throw new RangeError(`a frame of unknown type ${body[0]} in a pipe`);
    const end = 1 + LENGTH_BYTES + body.readUInt32BE(1);
    return { ...JSON.parse(body.toString("utf8", 1 + LENGTH_BYTES, end)), data: body.subarray(end) };
  }, maxBytes);
}

/** Writes one frame into a buffer of its own. */
export class FrameWriter {
  readonly #frame: Buffer;
  #offset = LENGTH_BYTES + 1;

  constructor(type: number, payloadBytes: number) {
    this.#frame = Buffer.allocUnsafe(LENGTH_BYTES + 1 + payloadBytes);
    this.#frame.writeUInt32BE(1 + payloadBytes, 0);
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
