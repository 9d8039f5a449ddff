import { BitReader, FormatError } from "../bits/index.ts";
import { readHevcTransfer } from "./hevc-vui.ts";
import { withoutEmulationPrevention } from "./nal-units.ts";
import { checkSize, chromaOf, hexByte, type VideoDescription } from "./video-description.ts";
import { readVideoRange } from "./video-range.ts";

const NAL_VPS = 32;
const NAL_SPS = 33;
const NAL_PPS = 34;

/** Describes the pictures of an `hvcC` body (ISO/IEC 14496-15 8.3.3.1). Throws `FormatError` when it has no readable SPS. */
export function describeHevc(hvcC: Uint8Array): VideoDescription {
  // Some muxers still write version 0, from the drafts of the standard.
  if (hvcC.length < 23 || (hvcC[0] ?? 0) > 1) throw new FormatError("configurationVersion 1 of hvcC", 0);
  const header = new DataView(hvcC.buffer, hvcC.byteOffset, 23);
  const nalLengthSize = (header.getUint8(21) & 3) + 1;
  if (nalLengthSize === 3) throw new FormatError("NAL unit lengths of 1, 2 or 4 bytes", 21);
  // Frames per 256 seconds; 0 is unspecified.
  const frameRate = header.getUint16(19) / 256 || null;
  return { codecString: codecString(header), nalLengthSize, frameRate, sampleAspect: null, ...readSps(findSps(hvcC)) };
}

/** ISO/IEC 14496-15 annex E.3. */
function codecString(header: DataView): string {
  const profile = header.getUint8(1);
  const space = ["", "A", "B", "C"][profile >> 6];
  const tier = profile & 0x20 ? "H" : "L";
  const constraints = Array.from({ length: 6 }, (_, i) => header.getUint8(6 + i));
  while (constraints.at(-1) === 0) constraints.pop();
  const compatibility = reverseBits(header.getUint32(2)).toString(16);
  const parts = [
    "hvc1",
    `${space}${profile & 0x1f}`,
    compatibility,
    `${tier}${header.getUint8(12)}`,
    ...constraints.map(hexByte),
  ];
  return parts.join(".");
}

function reverseBits(value: number): number {
  let reversed = 0;
  for (let bit = 0; bit < 32; bit++) reversed = reversed * 2 + ((value >>> bit) & 1);
  return reversed;
}

/** Returns the VPS, SPS and PPS of an `hvcC` body in their order, as views into it. Throws `FormatError` for an invalid body. */
export function hevcParameterSets(hvcC: Uint8Array): Uint8Array[] {
  return [...unitsOf(hvcC)].flatMap(({ type, unit }) => (PARAMETER_SETS.has(type) ? [unit] : []));
}

const PARAMETER_SETS: ReadonlySet<number> = new Set([NAL_VPS, NAL_SPS, NAL_PPS]);

function findSps(hvcC: Uint8Array): Uint8Array {
  for (const { type, unit } of unitsOf(hvcC)) if (type === NAL_SPS) return unit;
  throw new FormatError("a sequence parameter set in hvcC", 22);
}

/** ISO/IEC 14496-15 8.3.3.1: arrays of NAL units, one array per type. */
function* unitsOf(hvcC: Uint8Array): Generator<{ readonly type: number; readonly unit: Uint8Array }, void> {
  const bits = new BitReader(hvcC, 22);
  for (let arrays = bits.bits(8); arrays > 0; arrays--) {
    const type = bits.bits(8) & 0x3f;
    for (let units = bits.bits(16); units > 0; units--) {
      const length = bits.bits(16);
      const start = bits.byteOffset;
      bits.skip(length * 8);
      yield { type, unit: hvcC.subarray(start, start + length) };
    }
  }
}

/**
 * Number of pictures that may precede another one in decoding order and follow it in output order: 0 without B-frames. Throws `FormatError` when
 * `hvcC` has no readable SPS.
 */
export function hevcReorderFrames(hvcC: Uint8Array): number {
  const bits = new BitReader(withoutEmulationPrevention(findSps(hvcC)), 2);
  const { subLayers } = readSpsFields(bits);
  bits.unsignedExpGolomb(); // bit_depth_chroma_minus8
  bits.unsignedExpGolomb(); // log2_max_pic_order_cnt_lsb_minus4
  let frames = 0;
  // The last is of all sub-layers together.
  for (let layers = bits.flag() ? subLayers + 1 : 1; layers > 0; layers--) {
    bits.unsignedExpGolomb(); // sps_max_dec_pic_buffering_minus1
    frames = bits.unsignedExpGolomb();
    bits.unsignedExpGolomb(); // sps_max_latency_increase_plus1
  }
  return frames;
}

function readSps(sps: Uint8Array): Pick<VideoDescription, "width" | "height" | "chroma" | "bitDepth" | "range"> {
  const bits = new BitReader(withoutEmulationPrevention(sps), 2);
  const { subLayers, ...shape } = readSpsFields(bits);
  return { ...shape, range: readVideoRange(bits, (rest) => readHevcTransfer(rest, subLayers)) };
}

/** ITU-T H.265 7.3.2.2.1, up to the bit depth of luma. `subLayers` is sps_max_sub_layers_minus1. */
function readSpsFields(
  bits: BitReader,
): Pick<VideoDescription, "width" | "height" | "chroma" | "bitDepth"> & { readonly subLayers: number } {
  bits.skip(4);
  const subLayers = bits.bits(3);
  bits.skip(1);
  skipProfileTierLevel(bits, subLayers);
  bits.unsignedExpGolomb(); // sps_seq_parameter_set_id
  const chromaFormat = bits.unsignedExpGolomb();
  const chroma = chromaOf(chromaFormat, bits.byteOffset);
  const separatePlanes = chromaFormat === 3 && bits.flag();
  const codedWidth = bits.unsignedExpGolomb();
  const codedHeight = bits.unsignedExpGolomb();
  const crop = bits.flag() ? Array.from({ length: 4 }, () => bits.unsignedExpGolomb()) : [];
  const [left = 0, right = 0, top = 0, bottom = 0] = crop;
  const bitDepth = 8 + bits.unsignedExpGolomb();
  if (bitDepth > 16) throw new FormatError("a bit depth of 8 to 16", bits.byteOffset);
  // H.265 7.4.3.2.1: the conformance window counts in chroma samples.
  const subsampled = separatePlanes ? 0 : chromaFormat;
  const width = codedWidth - (left + right) * (subsampled === 1 || subsampled === 2 ? 2 : 1);
  const height = codedHeight - (top + bottom) * (subsampled === 1 ? 2 : 1);
  checkSize(width, height, bits.byteOffset);
  return { width, height, chroma, bitDepth, subLayers };
}

/** H.265 7.3.3. `subLayers` is sps_max_sub_layers_minus1. */
function skipProfileTierLevel(bits: BitReader, subLayers: number): void {
  bits.skip(96);
  if (subLayers === 0) return;
  const present = Array.from({ length: subLayers }, () => ({ profile: bits.flag(), level: bits.flag() }));
  bits.skip((8 - subLayers) * 2);
  for (const { profile, level } of present) bits.skip((profile ? 88 : 0) + (level ? 8 : 0));
}
