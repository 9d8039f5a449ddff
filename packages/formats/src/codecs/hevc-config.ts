import { FormatError } from "../bits/index.ts";
import { describeHevc } from "./hevc.ts";
import { withoutEmulationPrevention } from "./nal-units.ts";

const TYPES = { vps: 32, sps: 33, pps: 34 };
/** NAL unit header, and sps_video_parameter_set_id with the number of sub-layers. */
const PROFILE_AT = 3;
const PROFILE_BYTES = 12;
/** Of the first SPS that is read: enough for its profile, with every emulation prevention byte. */
const MAX_HEAD_BYTES = 32;
const CHROMA_IDC = { "4:0:0": 0, "4:2:0": 1, "4:2:2": 2, "4:4:4": 3 };

export interface HevcSets {
  readonly vps: readonly Uint8Array[];
  readonly sps: readonly Uint8Array[];
  readonly pps: readonly Uint8Array[];
}

/** Builds an `hvcC` body with 4-byte lengths (ISO/IEC 14496-15 8.3.3.1). Throws `FormatError` without a readable SPS. */
export function hevcConfig({ vps, sps, pps }: HevcSets): Uint8Array {
  const [first] = sps;
  const head = withoutEmulationPrevention(first?.subarray(0, MAX_HEAD_BYTES) ?? new Uint8Array(0));
  if (head.length < PROFILE_AT + PROFILE_BYTES) throw new FormatError("a sequence parameter set", 0);
  const subLayers = ((head[2] ?? 0) >> 1) & 7;
  const isNested = (head[2] ?? 0) & 1;
  const profile = head.subarray(PROFILE_AT, PROFILE_AT + PROFILE_BYTES);
  const arrays = [...arrayOf(TYPES.vps, vps), ...arrayOf(TYPES.sps, sps), ...arrayOf(TYPES.pps, pps)];
  // No spatial segmentation, parallelism or average frame rate is declared; all reserved bits are 1.
  const config = Uint8Array.from([
    ...[1, ...profile, 0xf0, 0, 0xfc, 0xfc, 0xf8, 0xf8, 0, 0],
    ...[((subLayers + 1) << 3) | (isNested << 2) | 3, [vps, sps, pps].filter(({ length }) => length > 0).length],
    ...arrays,
  ]);
  const { chroma, bitDepth } = describeHevc(config);
  config[16] = 0xfc | CHROMA_IDC[chroma];
  config[17] = 0xf8 | (bitDepth - 8);
  config[18] = 0xf8 | (bitDepth - 8);
  return config;
}

/** array_completeness: no parameter sets are in the samples. */
function arrayOf(type: number, units: readonly Uint8Array[]): number[] {
  if (units.length === 0) return [];
  const bytes = units.flatMap((unit) => [unit.length >> 8, unit.length & 0xff, ...unit]);
  return [0x80 | type, units.length >> 8, units.length & 0xff, ...bytes];
}
