import { withoutEmulationPrevention } from "./nal-units.ts";

const SPS = 7;
const PPS = 8;
const AUD = 9;
/** Profiles whose `avcC` has the chroma format and bit depths (ISO/IEC 14496-15 5.3.3.1.2). */
const HIGH_PROFILES = new Set([100, 110, 122, 144]);

export interface SplitPicture {
  /** The last of each; null where there is none. */
  readonly sps: Uint8Array | null;
  readonly pps: Uint8Array | null;
  /** The rest: NAL units behind 4-byte lengths. */
  readonly picture: Uint8Array;
}

/** Takes parameter sets and delimiters out of an H.264 access unit, whose NAL units are behind 4-byte lengths. A length that lies ends it. */
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

/** The body of `avcC` for one sequence and one picture parameter set, of 8 bits and 4:2:0 where the profile has more, and lengths of 4 bytes. */
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
