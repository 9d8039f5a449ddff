import { BitReader, FormatError } from "../bits/index.ts";
import { withoutEmulationPrevention } from "./nal-units.ts";
import { checkSize, chromaOf, hexByte, type VideoDescription } from "./video-description.ts";
import { videoRangeOf } from "./video-range.ts";

/** The NAL units of an `avcC` body (ISO/IEC 14496-15 5.3.3.1), as views into it. */
export interface AvcParameterSets {
  readonly sps: Uint8Array[];
  readonly pps: Uint8Array[];
}

/** Returns the SPS and PPS of an `avcC` body. Throws `FormatError` for an invalid body. */
export function avcParameterSets(avcC: Uint8Array): AvcParameterSets {
  if (avcC[0] !== 1) throw new FormatError("configurationVersion 1 of avcC", 0);
  let offset = 5;
  const byte = (): number => {
    const value = avcC[offset++];
    if (value === undefined) throw new FormatError("more of avcC", avcC.length);
    return value;
  };
  const readSets = (count: number): Uint8Array[] =>
    Array.from({ length: count }, () => {
      const length = byte() * 256 + byte();
      if (length === 0 || offset + length > avcC.length)
        throw new FormatError("a parameter set that fits avcC", offset);
      offset += length;
      return avcC.subarray(offset - length, offset);
    });
  const sps = readSets(byte() & 0x1f);
  const pps = readSets(byte());
  return { sps, pps };
}

/** Describes the pictures of an `avcC` body. Throws `FormatError` when it has no readable SPS. */
export function describeAvc(avcC: Uint8Array): VideoDescription {
  const sps = avcParameterSets(avcC).sps[0];
  if (!sps || sps.length < 4) throw new FormatError("a sequence parameter set in avcC", 6);
  const nalLengthSize = ((avcC[4] ?? 0) & 3) + 1;
  if (nalLengthSize === 3) throw new FormatError("NAL unit lengths of 1, 2 or 4 bytes", 4);
  return { codecString: `avc1.${Array.from(sps.subarray(1, 4), hexByte).join("")}`, nalLengthSize, ...readSps(sps) };
}

const BASELINE = 66;

/**
 * Number of pictures that a decoder of this `avcC` must buffer to output them in order: 0 without B-frames, null when the encoder does not declare
 * it.
 */
export function avcReorderFrames(avcC: Uint8Array): number | null {
  const sps = avcParameterSets(avcC).sps[0];
  if (!sps || sps.length < 4) return null;
  if (sps[1] === BASELINE) return 0;
  const bits = new BitReader(withoutEmulationPrevention(sps), 1);
  readSpsFields(bits);
  return readVui(bits).reorderFrames;
}

/** How samples of luma and chroma mean colours: by ITU-T H.264 table E-5, and whether in full range. `matrix` is null where the encoder does not say. */
export function avcColours(avcC: Uint8Array): { readonly matrix: number | null; readonly isFullRange: boolean } {
  const sps = avcParameterSets(avcC).sps[0];
  if (!sps) throw new FormatError("a sequence parameter set in avcC", 6);
  const bits = new BitReader(withoutEmulationPrevention(sps), 1);
  readSpsFields(bits);
  const { matrix, isFullRange } = readVui(bits);
  return { matrix, isFullRange };
}

// ITU-T H.264 7.3.2.1.1: the profiles whose SPS includes the chroma format and scaling lists.
const HIGH_PROFILES = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

function readSps(sps: Uint8Array): Omit<VideoDescription, "codecString" | "nalLengthSize"> {
  const bits = new BitReader(withoutEmulationPrevention(sps), 1);
  const { shape } = readSpsFields(bits);
  const { frameRate, sampleAspect, range } = readVui(bits);
  return { ...shape, frameRate, sampleAspect, range };
}

/** What the slices of a sequence are written with. */
export interface AvcSequence {
  readonly id: number;
  readonly hasChroma: boolean;
  readonly hasSeparatePlanes: boolean;
  /** Bits of `frame_num`. */
  readonly frameNumBits: number;
  /** Bits of `pic_order_cnt_lsb`; null where the order of pictures is told in another way. */
  readonly pictureOrderBits: number | null;
  /** `delta_pic_order_cnt` is in every slice. */
  readonly hasPictureOrderDeltas: boolean;
  readonly maxReferences: number;
  /** False where pictures may be fields. */
  readonly isProgressive: boolean;
  readonly macroblocks: number;
  /** Macroblocks of a row. */
  readonly macroblocksAcross: number;
  /** 4:2:0 with 8 bits, and flat scaling lists. */
  readonly isPlain: boolean;
}

/** Reads an SPS without its header byte. Throws `FormatError`. */
export function readAvcSequence(sps: Uint8Array): AvcSequence {
  return readSpsFields(new BitReader(withoutEmulationPrevention(sps), 1)).sequence;
}

type Shape = Pick<VideoDescription, "width" | "height" | "chroma" | "bitDepth">;

/** Reads the SPS up to the VUI. */
function readSpsFields(bits: BitReader): { readonly shape: Shape; readonly sequence: AvcSequence } {
  const profile = bits.bits(8);
  bits.skip(16);
  const id = bits.unsignedExpGolomb(); // seq_parameter_set_id
  let chromaFormat = 1;
  let separatePlanes = false;
  let [bitDepth, chromaDepth] = [8, 8];
  let hasScalingLists = false;
  if (HIGH_PROFILES.has(profile)) {
    chromaFormat = bits.unsignedExpGolomb();
    if (chromaFormat === 3) separatePlanes = bits.flag();
    bitDepth = 8 + bits.unsignedExpGolomb();
    if (bitDepth > 14) throw new FormatError("a bit depth of 8 to 14", bits.byteOffset);
    chromaDepth = 8 + bits.unsignedExpGolomb();
    bits.skip(1);
    hasScalingLists = bits.flag();
    if (hasScalingLists) skipScalingLists(bits, chromaFormat === 3 ? 12 : 8);
  }
  const chroma = chromaOf(chromaFormat, bits.byteOffset);
  const frameNumBits = bits.unsignedExpGolomb() + 4;
  const order = readPictureOrder(bits);
  const maxReferences = bits.unsignedExpGolomb();
  bits.skip(1);
  const widthInBlocks = bits.unsignedExpGolomb() + 1;
  const heightInUnits = bits.unsignedExpGolomb() + 1;
  const frameOnly = bits.flag();
  if (!frameOnly) bits.skip(1);
  bits.skip(1);
  const crop = bits.flag() ? Array.from({ length: 4 }, () => bits.unsignedExpGolomb()) : [];
  const [left = 0, right = 0, top = 0, bottom = 0] = crop;

  // H.264 7.4.2.1.1: cropping counts in chroma samples, and in field lines when pictures may be fields.
  const subsampled = separatePlanes ? 0 : chromaFormat;
  const cropX = subsampled === 1 || subsampled === 2 ? 2 : 1;
  const cropY = (subsampled === 1 ? 2 : 1) * (frameOnly ? 1 : 2);
  const width = widthInBlocks * 16 - (left + right) * cropX;
  const height = heightInUnits * 16 * (frameOnly ? 1 : 2) - (top + bottom) * cropY;
  checkSize(width, height, bits.byteOffset);
  const sequence: AvcSequence = {
    ...{ id, frameNumBits, ...order, maxReferences, isProgressive: frameOnly },
    ...{ hasChroma: chromaFormat !== 0 && !separatePlanes, hasSeparatePlanes: separatePlanes },
    macroblocks: widthInBlocks * heightInUnits * (frameOnly ? 1 : 2),
    macroblocksAcross: widthInBlocks,
    isPlain: chromaFormat === 1 && bitDepth === 8 && chromaDepth === 8 && !hasScalingLists,
  };
  return { shape: { width, height, chroma, bitDepth }, sequence };
}

function skipScalingLists(bits: BitReader, count: number): void {
  for (let list = 0; list < count; list++) {
    if (!bits.flag()) continue;
    const size = list < 6 ? 16 : 64;
    let last = 8;
    for (let i = 0; i < size && last !== 0; i++) last = (last + bits.signedExpGolomb() + 256) % 256;
  }
}

function readPictureOrder(bits: BitReader): Pick<AvcSequence, "pictureOrderBits" | "hasPictureOrderDeltas"> {
  const type = bits.unsignedExpGolomb();
  if (type > 2) throw new FormatError("pic_order_cnt_type of 0 to 2", bits.byteOffset);
  if (type === 0) return { pictureOrderBits: bits.unsignedExpGolomb() + 4, hasPictureOrderDeltas: false };
  if (type === 2) return { pictureOrderBits: null, hasPictureOrderDeltas: false };
  const hasPictureOrderDeltas = !bits.flag();
  bits.signedExpGolomb();
  bits.signedExpGolomb();
  const cycle = bits.unsignedExpGolomb();
  if (cycle > 255) throw new FormatError("a picture order cycle of at most 255", bits.byteOffset);
  for (let i = 0; i < cycle; i++) bits.signedExpGolomb();
  return { pictureOrderBits: null, hasPictureOrderDeltas };
}

// ITU-T H.264 table E-1, by aspect_ratio_idc; 1 is square.
const SAMPLE_ASPECTS: readonly (readonly [number, number] | null)[] = [
  ...[null, null, [12, 11], [10, 11], [16, 11], [40, 33], [24, 11], [20, 11], [32, 11]],
  ...[
    [80, 33],
    [18, 11],
    [15, 11],
    [64, 33],
    [160, 99],
    [4, 3],
    [3, 2],
    [2, 1],
  ],
] as const;

const UNSPECIFIED = 2;

interface Vui extends Pick<VideoDescription, "frameRate" | "sampleAspect" | "range"> {
  readonly reorderFrames: number | null;
  readonly isFullRange: boolean;
  readonly matrix: number | null;
}

/** Many encoders truncate the VUI, and their pictures still decode. Unreadable fields are therefore unknown, not an error. */
function readVui(bits: BitReader): Vui {
  const vui: { -readonly [K in keyof Vui]: Vui[K] } = {
    ...{ frameRate: null, sampleAspect: null, range: "SDR", reorderFrames: null, isFullRange: false, matrix: null },
  };
  try {
    if (!bits.flag()) return vui;
    if (bits.flag()) vui.sampleAspect = readSampleAspect(bits);
    if (bits.flag()) bits.skip(1); // overscan
    if (bits.flag()) {
      bits.skip(3); // video_format
      vui.isFullRange = bits.flag();
      if (bits.flag()) {
        bits.skip(8); // colour_primaries
        vui.range = videoRangeOf(bits.bits(8));
        const matrix = bits.bits(8);
        vui.matrix = matrix === UNSPECIFIED ? null : matrix;
      }
    }
    if (bits.flag()) {
      bits.unsignedExpGolomb(); // chroma sample location
      bits.unsignedExpGolomb();
    }
    if (bits.flag()) {
      const unitsInTick = bits.bits(32);
      const timeScale = bits.bits(32);
      // A tick is one field (H.264 E.2.1).
      const rate = timeScale / (2 * unitsInTick);
      if (rate > 0 && rate <= 1000) vui.frameRate = rate;
      bits.skip(1); // fixed_frame_rate_flag
    }
    const hasNalHrd = bits.flag();
    if (hasNalHrd) skipHrd(bits);
    const hasVclHrd = bits.flag();
    if (hasVclHrd) skipHrd(bits);
    if (hasNalHrd || hasVclHrd) bits.skip(1); // low_delay_hrd_flag
    bits.skip(1); // pic_struct_present_flag
    if (bits.flag()) {
      bits.skip(1); // motion_vectors_over_pic_boundaries_flag
      for (let i = 0; i < 4; i++) bits.unsignedExpGolomb();
      vui.reorderFrames = bits.unsignedExpGolomb();
    }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  return vui;
}

/** ITU-T H.264 E.1.2. */
function skipHrd(bits: BitReader): void {
  const count = bits.unsignedExpGolomb() + 1;
  if (count > 32) throw new FormatError("at most 32 HRD buffers", bits.byteOffset);
  bits.skip(8);
  for (let i = 0; i < count; i++) {
    bits.unsignedExpGolomb();
    bits.unsignedExpGolomb();
    bits.skip(1);
  }
  bits.skip(20);
}

function readSampleAspect(bits: BitReader): readonly [number, number] | null {
  const idc = bits.bits(8);
  if (idc !== 255) return SAMPLE_ASPECTS[idc] ?? null;
  const horizontal = bits.bits(16);
  const vertical = bits.bits(16);
  return horizontal === 0 || vertical === 0 || horizontal === vertical ? null : [horizontal, vertical];
}
