import { lengthPrefixed } from "../codecs/index.ts";
import type { RtpPacket } from "./rtp-packet.ts";

/** Larger pictures are invalid: 100 Mbit/s at one frame per second is 12 MB. */
const MAX_PICTURE_BYTES = 12 * 1024 * 1024;
const MAX_UNITS = 4096;

/** How a codec packs NAL units into RTP payloads. */
export interface NalPacking {
  kindOf(payload: Uint8Array): "unit" | "aggregate" | "fragment" | "unknown";
  /** Bytes before the first unit of an aggregate. */
  readonly aggregateHead: number;
  /** Bytes before the data of a fragment; the last of them has the start bit, the end bit and the unit's type. */
  readonly fragmentHead: number;
  /** The header of the unit that begins with this fragment. */
  unitHead(fragment: Uint8Array): Uint8Array;
}

/** One picture: its NAL units with 4-byte lengths. */
export interface RtpPicture {
  /** 32 bits, as in its packets. */
  readonly timestamp: number;
  readonly data: Uint8Array;
  /** NAL units before or within it were lost, so it may not decode. */
  readonly isDamaged: boolean;
}

/** Assembles pictures of NAL units from RTP packets in sequence order. */
export class PictureAssembler {
  readonly #packing: NalPacking;
  readonly #onPicture: (picture: RtpPicture) => void;
  #timestamp: number | null = null;
  #units: Uint8Array[] = [];
  #bytes = 0;
  /** Fragments of the current unit, the reconstructed NAL header first. */
  #fragments: Uint8Array[] = [];
  #isDamaged = false;

  constructor(packing: NalPacking, onPicture: (picture: RtpPicture) => void) {
    this.#packing = packing;
    this.#onPicture = onPicture;
  }

  /** `isAfterGap`: packets before this one were lost. */
  push({ timestamp, marker, payload }: RtpPacket, isAfterGap: boolean): void {
    if (this.#timestamp !== null && timestamp !== this.#timestamp) this.#finish(isAfterGap);
    this.#timestamp = timestamp;
    if (isAfterGap) {
      this.#isDamaged = true;
      this.#fragments = [];
    }
    this.#take(payload);
    if (marker) this.#finish(false);
  }

  #take(payload: Uint8Array): void {
    if (payload.length === 0) return;
    const kind = this.#packing.kindOf(payload);
    if (kind === "unit") this.#add(payload);
    else if (kind === "aggregate") this.#takeAggregate(payload);
    else if (kind === "fragment") this.#takeFragment(payload);
    else this.#isDamaged = true;
  }

  #takeAggregate(payload: Uint8Array): void {
    for (let offset = this.#packing.aggregateHead; offset + 2 <= payload.length; ) {
      const length = ((payload[offset] ?? 0) << 8) | (payload[offset + 1] ?? 0);
      offset += 2;
      if (length === 0 || offset + length > payload.length) {
        this.#isDamaged = true;
        return;
      }
      this.#add(payload.subarray(offset, offset + length));
      offset += length;
    }
  }

  #takeFragment(payload: Uint8Array): void {
    const { fragmentHead } = this.#packing;
    const header = payload[fragmentHead - 1] ?? 0;
    if (payload.length <= fragmentHead) return;
    const isStart = (header & 0x80) !== 0;
    if (isStart) this.#fragments = [this.#packing.unitHead(payload)];
    else if (this.#fragments.length === 0) {
      this.#isDamaged = true;
      return;
    }
    this.#fragments.push(payload.subarray(fragmentHead));
    this.#count(payload.length);
    if ((header & 0x40) === 0) return;
    this.#units.push(concatenate(this.#fragments));
    this.#fragments = [];
  }

  #add(unit: Uint8Array): void {
    this.#count(unit.length);
    this.#units.push(unit);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= MAX_PICTURE_BYTES && this.#units.length + this.#fragments.length <= MAX_UNITS) return;
    this.#units = [];
    this.#fragments = [];
    this.#bytes = 0;
    this.#isDamaged = true;
  }

  /** `isEndLost`: packets between this picture's last packet and the next picture were lost, and may have belonged to it. */
  #finish(isEndLost: boolean): void {
    const units = this.#units;
    const isDamaged = this.#isDamaged || isEndLost || this.#fragments.length > 0;
    const timestamp = this.#timestamp ?? 0;
    this.#units = [];
    this.#fragments = [];
    this.#bytes = 0;
    this.#isDamaged = false;
    this.#timestamp = null;
    if (units.length > 0) this.#onPicture({ timestamp, data: lengthPrefixed(units), isDamaged });
  }
}

function concatenate(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}
