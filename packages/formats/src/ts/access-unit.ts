import { FormatError } from "../bits/index.ts";
import { avcParameterSets, hevcParameterSets } from "../codecs/index.ts";

/** Size of a start code, and of the length that it replaces. */
const PREFIX_BYTES = 4;
/** Access unit delimiters that allow any picture type. Each access unit starts with one (ISO/IEC 13818-1 2.14.1, 2.17.1). */
const DELIMITERS = { avc: Uint8Array.of(0x09, 0xf0), hevc: Uint8Array.of(0x46, 0x01, 0x50) };
const AVC_DELIMITER = 9;
const HEVC_DELIMITER = 35;

/**
 * Converts pictures for a transport stream: NAL units with start codes, a delimiter first, and parameter sets before each picture at which decoding
 * can start.
 */
export class AccessUnits {
  readonly #codec: "avc" | "hevc";
  readonly #sets: readonly Uint8Array[];
  readonly #setBytes: number;

  /** `config` is the body of `avcC` or `hvcC`. */
  constructor(codec: "avc" | "hevc", config: Uint8Array) {
    this.#codec = codec;
    const { sps, pps } = codec === "avc" ? avcParameterSets(config) : { sps: hevcParameterSets(config), pps: [] };
    this.#sets = [...sps, ...pps];
    this.#setBytes = this.#sets.reduce((bytes, set) => bytes + PREFIX_BYTES + set.length, 0);
  }

  /** Upper bound of the bytes that `put` writes for this picture. */
  maxBytes(data: Uint8Array): number {
    return PREFIX_BYTES + DELIMITERS[this.#codec].length + this.#setBytes + data.length;
  }

  /**
   * Writes a picture, given as NAL units with 4-byte lengths, into `out`. Returns the end offset. Throws `FormatError` for a length that exceeds the
   * data.
   */
  put(out: Uint8Array, at: number, data: Uint8Array, isIndependent: boolean): number {
    let end = putUnit(out, at, DELIMITERS[this.#codec]);
    if (isIndependent) for (const set of this.#sets) end = putUnit(out, end, set);
    for (let offset = 0; offset < data.length; ) {
      const start = offset + PREFIX_BYTES;
      let length = 0;
      for (let i = offset; i < start; i++) length = length * 256 + (data[i] ?? 0);
      if (start + length > data.length) throw new FormatError("a NAL unit length that fits the access unit", offset);
      offset = start + length;
      if (length > 0 && !this.#isDelimiter(data[start] ?? 0)) end = putUnit(out, end, data.subarray(start, offset));
    }
    return end;
  }

  #isDelimiter(header: number): boolean {
    return this.#codec === "avc" ? (header & 0x1f) === AVC_DELIMITER : ((header >> 1) & 0x3f) === HEVC_DELIMITER;
  }
}

function putUnit(out: Uint8Array, at: number, unit: Uint8Array): number {
  out[at] = 0;
  out[at + 1] = 0;
  out[at + 2] = 0;
  out[at + 3] = 1;
  out.set(unit, at + PREFIX_BYTES);
  return at + PREFIX_BYTES + unit.length;
}
