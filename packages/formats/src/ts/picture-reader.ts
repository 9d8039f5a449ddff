import { FormatError } from "../bits/index.ts";
import { annexBUnits, avcConfig, hevcConfig, isIdrAccessUnit } from "../codecs/index.ts";
import type { TsVideoCodec } from "./program-tables.ts";

const LENGTH_BYTES = 4;
const AVC = { sps: 7, pps: 8, delimiter: 9, filler: 12 };
const HEVC = { vps: 32, sps: 33, pps: 34, delimiter: 35, filler: 38 };
/** Of each kind; no encoder needs more, and each goes into every init segment. */
const MAX_SETS = 16;

export interface ReadPicture {
  /** NAL units with 4-byte lengths, without parameter sets, delimiters and filler. */
  readonly data: Uint8Array;
  readonly isIndependent: boolean;
}

type SetKind = "vps" | "sps" | "pps";

/** Reads the access units of a transport stream: parameter sets become a configuration, the rest a picture. */
export class PictureReader {
  readonly #codec: TsVideoCodec;
  readonly #allocate: (bytes: number) => Uint8Array;
  readonly #configured: (config: Uint8Array) => void;
  readonly #sets: Record<SetKind, readonly Uint8Array[]> = { vps: [], sps: [], pps: [] };
  #hasConfig = false;

  /** `configured` gets the body of `avcC` or `hvcC` before the first picture, and whenever it changes. */
  constructor(codec: TsVideoCodec, allocate: (bytes: number) => Uint8Array, configured: (config: Uint8Array) => void) {
    this.#codec = codec;
    this.#allocate = allocate;
    this.#configured = configured;
  }

  /** Null for an access unit without a picture, or before the first configuration. Throws `FormatError` for parameter sets that cannot be read. */
  read(accessUnit: Uint8Array): ReadPicture | null {
    const sets: Record<SetKind, Uint8Array[]> = { vps: [], sps: [], pps: [] };
    const units: Uint8Array[] = [];
    let bytes = 0;
    for (const unit of annexBUnits(accessUnit)) {
      const kind = this.#kindOf(unit[0] ?? 0);
      if (kind === "picture") {
        units.push(unit);
        bytes += LENGTH_BYTES + unit.length;
      } else if (kind !== "nothing") sets[kind].push(unit);
    }
    this.#take(sets);
    if (!this.#hasConfig || bytes === 0) return null;
    const data = this.#allocate(bytes);
    let at = 0;
    for (const unit of units) {
      const { length } = unit;
      data[at] = length >>> 24;
      data[at + 1] = length >>> 16;
      data[at + 2] = length >>> 8;
      data[at + 3] = length;
      data.set(unit, at + LENGTH_BYTES);
      at += LENGTH_BYTES + length;
    }
    return { data, isIndependent: isIdrAccessUnit(this.#codec, data) };
  }

  #kindOf(header: number): SetKind | "picture" | "nothing" {
    const types = this.#codec === "avc" ? AVC : HEVC;
    const type = this.#codec === "avc" ? header & 0x1f : (header >> 1) & 0x3f;
    if (type === types.sps) return "sps";
    if (type === types.pps) return "pps";
    if (type === HEVC.vps && types === HEVC) return "vps";
    return type === types.delimiter || type === types.filler ? "nothing" : "picture";
  }

  /** The sets of an access unit replace all earlier ones of their kind: encoders repeat them together. */
  #take(sets: Record<SetKind, Uint8Array[]>): void {
    let isNew = false;
    for (const kind of ["vps", "sps", "pps"] as const) {
      const sent = distinct(sets[kind]);
      if (sent.length === 0 || isSame(sent, this.#sets[kind])) continue;
      this.#sets[kind] = sent.map((set) => set.slice());
      isNew = true;
    }
    const { vps, sps, pps } = this.#sets;
    if (!isNew || sps.length === 0 || pps.length === 0) return;
    const config = this.#codec === "avc" ? avcConfig(sps, pps) : hevcConfig({ vps, sps, pps });
    this.#hasConfig = true;
    this.#configured(config);
  }
}

/** Each is compared with those that were found alone: an access unit may have millions. Throws `FormatError` for too many. */
function distinct(sets: readonly Uint8Array[]): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const set of sets) {
    if (found.some((other) => isEqual(set, other))) continue;
    if (found.length === MAX_SETS) throw new FormatError(`at most ${MAX_SETS} parameter sets of a kind`, 0);
    found.push(set);
  }
  return found;
}

const isSame = (left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean =>
  left.length === right.length && left.every((set, at) => isEqual(set, right[at] ?? new Uint8Array(0)));

const isEqual = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((byte, at) => byte === right[at]);
