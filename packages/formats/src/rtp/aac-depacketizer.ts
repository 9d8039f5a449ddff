import { BitReader, FormatError } from "../bits/index.ts";
import type { RtpPacket } from "./rtp-packet.ts";

/** 13 bits of length (RFC 3640 3.3.6). */
const MAX_FRAME_BYTES = 8191;
const MAX_FRAMES = 64;

/** Widths of the fields of an AU header, in bits, from the `a=fmtp` line. */
export interface AacPacking {
  readonly sizeLength: number;
  readonly indexLength: number;
  readonly indexDeltaLength: number;
}

export interface RtpAudioFrame {
  /** As in its packet. */
  readonly timestamp: number;
  /** Its place among the frames of the packet. */
  readonly index: number;
  readonly data: Uint8Array;
}

/** Reads AAC frames from RTP (RFC 3640, modes AAC-hbr and AAC-lbr): several in a packet, or one in several packets. */
export class AacDepacketizer {
  readonly #packing: AacPacking;
  readonly #onFrame: (frame: RtpAudioFrame) => void;
  #pieces: Uint8Array[] = [];
  #missing = 0;

  /** Throws `FormatError` for widths that no encoder uses. */
  constructor(packing: AacPacking, onFrame: (frame: RtpAudioFrame) => void) {
    const { sizeLength, indexLength, indexDeltaLength } = packing;
    const isWidth = (bits: number) => Number.isInteger(bits) && bits >= 0 && bits <= 16;
    if (!isWidth(sizeLength) || sizeLength === 0 || !isWidth(indexLength) || !isWidth(indexDeltaLength))
      throw new FormatError("AU headers with a size", 0);
    this.#packing = packing;
    this.#onFrame = onFrame;
  }

  /** Leaves out what is damaged. */
  push({ timestamp, payload }: RtpPacket, isAfterGap: boolean): void {
    if (isAfterGap) this.#drop();
    const headBits = ((payload[0] ?? 0) << 8) | (payload[1] ?? 0);
    const dataAt = 2 + Math.ceil(headBits / 8);
    if (payload.length <= dataAt) return this.#drop();
    const sizes = this.#sizesOf(new BitReader(payload.subarray(2, dataAt)), headBits);
    const [first = 0] = sizes;
    const rest = payload.length - dataAt;
    if (this.#missing > 0 || (sizes.length === 1 && first > rest))
      return this.#piece(timestamp, first, payload.subarray(dataAt));
    let at = dataAt;
    for (const [index, size] of sizes.entries()) {
      if (size === 0 || at + size > payload.length) return;
      this.#onFrame({ timestamp, index, data: payload.subarray(at, at + size) });
      at += size;
    }
  }

  #sizesOf(bits: BitReader, headBits: number): number[] {
    const { sizeLength, indexLength, indexDeltaLength } = this.#packing;
    const sizes: number[] = [];
    let left = headBits;
    while (sizes.length < MAX_FRAMES) {
      const index = sizes.length === 0 ? indexLength : indexDeltaLength;
      if (left < sizeLength + index) break;
      sizes.push(bits.bits(sizeLength));
      bits.skip(index);
      left -= sizeLength + index;
    }
    return sizes;
  }

  /** A frame that is larger than a packet has its whole size in each. */
  #piece(timestamp: number, size: number, piece: Uint8Array): void {
    if (this.#missing === 0) this.#missing = size;
    if (size > MAX_FRAME_BYTES || piece.length > this.#missing) return this.#drop();
    this.#pieces.push(piece);
    this.#missing -= piece.length;
    if (this.#missing > 0) return;
    const data = new Uint8Array(size);
    let at = 0;
    let isWhole = true;
    for (const part of this.#pieces) {
      if (at + part.length > size) isWhole = false;
      else data.set(part, at);
      at += part.length;
    }
    this.#drop();
    if (isWhole && at === size) this.#onFrame({ timestamp, index: 0, data });
  }

  #drop(): void {
    this.#pieces = [];
    this.#missing = 0;
  }
}
