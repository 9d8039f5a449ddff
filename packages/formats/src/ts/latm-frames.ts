import { BitReader, FormatError } from "../bits/index.ts";
import { type AacDescription, readAacConfig } from "../codecs/index.ts";

export const LOAS_HEAD_BYTES = 3;
const MAX_SUB_FRAMES = 64;

export interface LatmConfig extends AacDescription {
  /** The AudioSpecificConfig. */
  readonly config: Uint8Array;
}

/** AudioSyncStream (ISO/IEC 14496-3 1.7.2): a sync word of 11 bits and a length of 13. */
export function loasFrameBytes(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0x56 || ((bytes[at + 1] ?? 0) & 0xe0) !== 0xe0) return 0;
  return LOAS_HEAD_BYTES + ((((bytes[at + 1] ?? 0) & 0x1f) << 8) | (bytes[at + 2] ?? 0));
}

/** Reads AudioMuxElements (14496-3 1.7.3) of one program with one layer, the only form that broadcast encoders send. */
export class LatmFrames {
  #config: LatmConfig | null = null;
  #subFrames = 1;

  /** Null before the first configuration. */
  get config(): LatmConfig | null {
    return this.#config;
  }

  /** The AAC frames of an AudioSyncStream frame; none before the first configuration. Throws `FormatError` for other forms. */
  read(frame: Uint8Array): Uint8Array[] {
    const element = frame.subarray(LOAS_HEAD_BYTES);
    const bits = new BitReader(element);
    // useSameStreamMux
    if (!bits.flag()) this.#readConfig(bits, element);
    if (!this.#config) return [];
    const frames: Uint8Array[] = [];
    for (let count = 0; count < this.#subFrames; count++) {
      const bytes = readPayloadBytes(bits);
      frames.push(bytesAt(element, bitOffset(bits, element), bytes));
      bits.skip(bytes * 8);
    }
    return frames;
  }

  /** StreamMuxConfig. */
  #readConfig(bits: BitReader, element: Uint8Array): void {
    const version = bits.bits(1);
    if (version === 1 && bits.flag()) throw new FormatError("audioMuxVersionA 0", bits.byteOffset);
    if (version === 1) readValue(bits); // taraBufferFullness
    const isSameFraming = bits.flag();
    this.#subFrames = 1 + bits.bits(6);
    const programs = bits.bits(4);
    const layers = bits.bits(3);
    if (!isSameFraming || programs > 0 || layers > 0 || this.#subFrames > MAX_SUB_FRAMES)
      throw new FormatError("LATM of one program with one layer", bits.byteOffset);
    const length = version === 1 ? readValue(bits) : null;
    const start = bitOffset(bits, element);
    const rest = bytesAt(element, start, (element.length * 8 - start) >> 3);
    // Without a length, nothing tells whether an extension follows.
    const config = new BitReader(length === null ? rest : rest.subarray(0, (length + 7) >> 3));
    const description = readAacConfig(config, length !== null);
    const used = length ?? rest.length * 8 - config.bitsLeft;
    bits.skip(used);
    this.#config = { ...description, config: firstBits(rest, used) };
    if (bits.bits(3) !== 0) throw new FormatError("frameLengthType 0", bits.byteOffset);
    bits.skip(8); // latmBufferFullness
    if (bits.flag()) skipOtherDataLength(bits, version);
    if (bits.flag()) bits.skip(8); // crcCheckSum
  }
}

/** LatmGetValue. */
function readValue(bits: BitReader): number {
  const bytes = bits.bits(2) + 1;
  return bits.bits(8 * bytes);
}

function skipOtherDataLength(bits: BitReader, version: number): void {
  if (version === 1) {
    readValue(bits);
    return;
  }
  while (bits.flag()) bits.skip(8);
  bits.skip(8);
}

/** PayloadLengthInfo: bytes of 255 up to the first smaller one. */
function readPayloadBytes(bits: BitReader): number {
  let bytes = 0;
  for (let part = 255; part === 255; bytes += part) part = bits.bits(8);
  return bytes;
}

const bitOffset = (bits: BitReader, of: Uint8Array): number => of.length * 8 - bits.bitsLeft;

/** Bytes that start at any bit. Throws `FormatError` if there are not so many. */
function bytesAt(source: Uint8Array, bit: number, count: number): Uint8Array {
  if (bit + count * 8 > source.length * 8) throw new FormatError(`${count} more bytes`, bit >> 3);
  const first = bit >> 3;
  const shift = bit & 7;
  if (shift === 0) return source.slice(first, first + count);
  const bytes = new Uint8Array(count);
  for (let i = 0; i < count; i++)
    bytes[i] = ((source[first + i] ?? 0) << shift) | ((source[first + i + 1] ?? 0) >> (8 - shift));
  return bytes;
}

/** The first bits of `bytes`, in whole bytes that end with zeros. */
function firstBits(bytes: Uint8Array, count: number): Uint8Array {
  const first = bytes.slice(0, (count + 7) >> 3);
  const last = first.length - 1;
  if (count % 8 !== 0) first[last] = (first[last] ?? 0) & (0xff << (8 - (count % 8)));
  return first;
}
