/** packet_start_code_prefix, stream_id and PES_packet_length. */
const START_BYTES = 6;
/** With the flags and PES_header_data_length. */
const HEAD_BYTES = 9;
const FIRST_BUFFER_BYTES = 4 * 1024;

/** What a PES packet carries. Times are as sent: 33 bits of 90 kHz; null if it has none. */
export interface PesPacket {
  /** Valid until the next packet. */
  readonly payload: Uint8Array;
  readonly presentation: number | null;
  readonly decode: number | null;
}

export interface PesHandler {
  packet(packet: PesPacket): void;
  /** A packet is incomplete, or too large, and left out. */
  lost(): void;
}

/** Collects the PES packets of one PID (ISO/IEC 13818-1 2.4.3.6), each of at most `maxBytes`. */
export class PesReader {
  readonly #maxBytes: number;
  readonly #handler: PesHandler;
  #bytes = new Uint8Array(FIRST_BUFFER_BYTES);
  #length = 0;
  /** Where the packet ends; infinite if only the next one tells. */
  #end = Number.POSITIVE_INFINITY;
  #isOpen = false;

  constructor(maxBytes: number, handler: PesHandler) {
    this.#maxBytes = maxBytes;
    this.#handler = handler;
  }

  push(bytes: Uint8Array, start: number, end: number, isStart: boolean): void {
    if (isStart) {
      this.flush();
      this.#isOpen = true;
      this.#length = 0;
      this.#end = Number.POSITIVE_INFINITY;
    }
    if (!this.#isOpen) return;
    const length = this.#length + (end - start);
    if (length > this.#maxBytes) return this.lost();
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(bytes.subarray(start, end), this.#length);
    const isHeadNew = this.#length < START_BYTES && length >= START_BYTES;
    this.#length = length;
    if (isHeadNew) this.#readStart();
    if (this.#length >= this.#end) this.#complete(this.#end);
  }

  /** The packet is over, if nothing says how long it is. */
  flush(): void {
    if (!this.#isOpen) return;
    if (this.#end === Number.POSITIVE_INFINITY) this.#complete(this.#length);
    else this.lost();
  }

  lost(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#handler.lost();
  }

  #readStart(): void {
    const [zero, alsoZero, one] = this.#bytes;
    if (zero !== 0 || alsoZero !== 0 || one !== 1) return this.lost();
    const length = uint16(this.#bytes, 4);
    if (length > 0) this.#end = START_BYTES + length;
  }

  #complete(end: number): void {
    this.#isOpen = false;
    const [, , , , , , mark = 0, flags = 0, extraBytes = 0] = this.#bytes;
    const start = HEAD_BYTES + extraBytes;
    // Padding and private streams have no header with times; nor has a packet that is cut short.
    if (end <= start || mark >> 6 !== 2) return this.#handler.lost();
    const presentation = (flags & 0x80) !== 0 && extraBytes >= 5 ? readTime(this.#bytes, HEAD_BYTES) : null;
    const decode = (flags & 0x40) !== 0 && extraBytes >= 10 ? readTime(this.#bytes, HEAD_BYTES + 5) : presentation;
    this.#handler.packet({ payload: this.#bytes.subarray(start, end), presentation, decode });
  }

  #grow(length: number): void {
    const bytes = new Uint8Array(Math.min(this.#maxBytes, 2 * length));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
  }
}

/** 33 bits in three groups, each followed by a marker bit. */
function readTime(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] ?? 0) >> 1) & 7;
  const middle = uint16(bytes, at + 1) >> 1;
  const low = uint16(bytes, at + 3) >> 1;
  return high * 2 ** 30 + middle * 2 ** 15 + low;
}

const uint16 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
