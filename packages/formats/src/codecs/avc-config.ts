import { describeAvc } from "./avc.ts";
import { withoutEmulationPrevention } from "./nal-units.ts";

const SPS = 7;
const PPS = 8;
const AUD = 9;
/** Profiles whose `avcC` includes the chroma format and bit depths (ISO/IEC 14496-15 5.3.3.1.2). */
const HIGH_PROFILES = new Set([100, 110, 122, 144]);
const CHROMA_IDC = { "4:0:0": 0, "4:2:0": 1, "4:2:2": 2, "4:4:4": 3 };

export interface SplitPicture {
  /** The last SPS and PPS of the access unit; null if it has none. */
  readonly sps: Uint8Array | null;
  readonly pps: Uint8Array | null;
  /** The other NAL units, with 4-byte lengths. */
  readonly picture: Uint8Array;
}

/** Removes parameter sets and delimiters from an H.264 access unit with 4-byte NAL unit lengths. Stops at a length that exceeds the data. */
export function splitParameterSets(data: Uint8Array): SplitPicture {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let sps: Uint8Array | null = null;
  let pps: Uint8Array | null = null;
  const picture = new Uint8Array(data.length);
  let length = 0;
  for (let offset = 0; offset + 4 < data.length; ) {
    const end = offset + 4 + view.getUint32(offset);
    if (end > data.length) break;
    const unit = data.subarray(offset + 4, end);
    const type = (unit[0] ?? 0) & 0x1f;
    if (type === SPS) sps = unit;
    else if (type === PPS) pps = unit;
    else if (type !== AUD && unit.length > 0) {
      picture.set(data.subarray(offset, end), length);
      length += end - offset;
    }
    offset = end;
  }
  return { sps, pps, picture: picture.subarray(0, length) };
}

/**
 * Builds an `avcC` body with 4-byte lengths, from one set of each kind or several. Throws `FormatError` if its profile declares chroma format and bit
 * depth, and they cannot be read.
 */
export function avcConfig(
  sps: Uint8Array | readonly Uint8Array[],
  pps: Uint8Array | readonly Uint8Array[],
): Uint8Array {
  const [allSps, allPps] = [listOf(sps), listOf(pps)];
  const [, profile = 0, compatibility = 0, level = 0] = withoutEmulationPrevention(
    allSps[0]?.subarray(0, 8) ?? new Uint8Array(0),
  );
  const sized = (unit: Uint8Array): number[] => [unit.length >> 8, unit.length & 0xff, ...unit];
  const config = [1, profile, compatibility, level, 0xff, 0xe0 | allSps.length, ...allSps.flatMap(sized)];
  config.push(allPps.length, ...allPps.flatMap(sized));
  if (!HIGH_PROFILES.has(profile)) return Uint8Array.from(config);
  const { chroma, bitDepth } = describeAvc(Uint8Array.from(config));
  const depth = 0xf8 | (bitDepth - 8);
  return Uint8Array.from([...config, 0xfc | CHROMA_IDC[chroma], depth, depth, 0]);
}

const listOf = (sets: Uint8Array | readonly Uint8Array[]): readonly Uint8Array[] =>
  sets instanceof Uint8Array ? [sets] : sets;
