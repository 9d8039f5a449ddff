import { withoutEmulationPrevention } from "./nal-units.ts";

const SPS = 7;
const PPS = 8;
const AUD = 9;
/** Profiles whose `avcC` includes the chroma format and bit depths (ISO/IEC 14496-15 5.3.3.1.2). */
const HIGH_PROFILES = new Set([100, 110, 122, 144]);

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

/** Builds an `avcC` body with one SPS, one PPS and 4-byte lengths. Profiles that declare chroma format and bit depth get 4:2:0 and 8 bits. */
export function avcConfig(sps: Uint8Array, pps: Uint8Array): Uint8Array {
  const [, profile = 0, compatibility = 0, level = 0] = withoutEmulationPrevention(sps.subarray(0, 8));
  const size = ({ length }: Uint8Array): number[] => [length >> 8, length & 0xff];
  const high = HIGH_PROFILES.has(profile) ? [0xfd, 0xf8, 0xf8, 0] : [];
  return Uint8Array.of(
    1,
    profile,
    compatibility,
    level,
    0xff,
    0xe1,
    ...size(sps),
    ...sps,
    1,
    ...size(pps),
    ...pps,
    ...high,
  );
}
