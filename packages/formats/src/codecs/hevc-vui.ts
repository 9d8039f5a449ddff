import { type BitReader, FormatError } from "../bits/index.ts";

const EXTENDED_ASPECT = 255;
/** ITU-T H.265 7.4.3.2.1 and 7.4.8. */
const MAX_SETS = 64;
const MAX_PICTURES = 16;
const MAX_LONG_TERM = 32;

/**
 * Reads an SPS of H.265 (7.3.2.2.1) from behind `bit_depth_luma_minus8` to the transfer characteristics in its VUI (E.2.1). Null if it declares none.
 * `subLayers` is sps_max_sub_layers_minus1.
 */
export function readHevcTransfer(bits: BitReader, subLayers: number): number | null {
  bits.unsignedExpGolomb(); // bit_depth_chroma_minus8
  const orderBits = bits.unsignedExpGolomb() + 4;
  const layers = bits.flag() ? subLayers + 1 : 1;
  skipGolombs(bits, layers * 3 + 6); // buffering of each sub-layer; sizes of blocks and transforms
  if (bits.flag() && bits.flag()) skipScalingLists(bits);
  bits.skip(2);
  if (bits.flag()) skipPcm(bits);
  skipReferenceSets(bits);
  if (bits.flag()) {
    const count = bits.unsignedExpGolomb();
    if (count > MAX_LONG_TERM) throw new FormatError("at most 32 long-term pictures", bits.byteOffset);
    bits.skip(count * (orderBits + 1));
  }
  bits.skip(2);
  return bits.flag() ? readTransfer(bits) : null;
}

function readTransfer(bits: BitReader): number | null {
  if (bits.flag() && bits.bits(8) === EXTENDED_ASPECT) bits.skip(32);
  if (bits.flag()) bits.skip(1); // overscan
  if (!bits.flag()) return null;
  bits.skip(4);
  if (!bits.flag()) return null;
  bits.skip(8); // colour_primaries
  return bits.bits(8);
}

function skipGolombs(bits: BitReader, count: number): void {
  for (let i = 0; i < count; i++) bits.unsignedExpGolomb();
}

function skipPcm(bits: BitReader): void {
  bits.skip(8);
  skipGolombs(bits, 2);
  bits.skip(1);
}

/** 7.3.4. */
function skipScalingLists(bits: BitReader): void {
  for (let size = 0; size < 4; size++)
    for (let matrix = 0; matrix < 6; matrix += size === 3 ? 3 : 1) {
      if (!bits.flag()) {
        bits.unsignedExpGolomb();
        continue;
      }
      const count = Math.min(64, 1 << (4 + 2 * size)) + (size > 1 ? 1 : 0);
      for (let i = 0; i < count; i++) bits.signedExpGolomb();
    }
}

/** 7.3.7. A set may be told as a change of the one before. */
function skipReferenceSets(bits: BitReader): void {
  const sets = bits.unsignedExpGolomb();
  if (sets > MAX_SETS) throw new FormatError("at most 64 sets of reference pictures", bits.byteOffset);
  let pictures = 0;
  for (let set = 0; set < sets; set++) {
    pictures = set > 0 && bits.flag() ? readChangedSet(bits, pictures) : readSet(bits);
    if (pictures > MAX_PICTURES) throw new FormatError("at most 16 reference pictures", bits.byteOffset);
  }
}

function readChangedSet(bits: BitReader, before: number): number {
  bits.skip(1);
  bits.unsignedExpGolomb();
  let pictures = 0;
  for (let i = 0; i <= before; i++) if (bits.flag() || bits.flag()) pictures++;
  return pictures;
}

function readSet(bits: BitReader): number {
  const pictures = bits.unsignedExpGolomb() + bits.unsignedExpGolomb();
  if (pictures > MAX_PICTURES) return pictures;
  for (let i = 0; i < pictures; i++) {
    bits.unsignedExpGolomb();
    bits.skip(1);
  }
  return pictures;
}
