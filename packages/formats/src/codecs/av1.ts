import { BitReader, FormatError } from "../bits/index.ts";
import { type Chroma, checkSize, type VideoDescription } from "./video-description.ts";
import { readVideoRange } from "./video-range.ts";

const OBU_SEQUENCE_HEADER = 1;

/** Describes the pictures of an `av1C` body (AV1 in ISOBMFF 2.3.3). Throws `FormatError` when it has no readable sequence header. */
export function describeAv1(av1C: Uint8Array): VideoDescription {
  const bits = new BitReader(av1C);
  if (bits.bits(8) !== 0x81) throw new FormatError("marker and version 1 of av1C", 0);
  const profile = bits.bits(3);
  const level = bits.bits(5);
  const tier = bits.flag() ? "H" : "M";
  const highBitDepth = bits.flag();
  const twelveBit = bits.flag();
  const monochrome = bits.flag();
  const subsamplingX = bits.flag();
  const subsamplingY = bits.flag();
  const bitDepth = highBitDepth ? (profile === 2 && twelveBit ? 12 : 10) : 8;
  const subsampled: Chroma = subsamplingX ? (subsamplingY ? "4:2:0" : "4:2:2") : "4:4:4";
  const codecString = `av01.${profile}.${twoDigits(level)}${tier}.${twoDigits(bitDepth)}`;
  const chroma = monochrome ? "4:0:0" : subsampled;
  return {
    codecString,
    chroma,
    bitDepth,
    nalLengthSize: 0,
    sampleAspect: null,
    ...readSequenceHeader(findSequenceHeader(av1C)),
  };
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** The configuration OBUs start at byte 4, each with its size (AV1 in ISOBMFF 2.3.4). */
function findSequenceHeader(av1C: Uint8Array): Uint8Array {
  const bits = new BitReader(av1C, 4);
  while (bits.bitsLeft > 0) {
    const header = bits.bits(8);
    if (header & 4) bits.skip(8);
    if (!(header & 2)) throw new FormatError("an OBU with its size", bits.byteOffset);
    let size = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bits.bits(8);
      size += (byte & 0x7f) * 2 ** shift;
      if (!(byte & 0x80)) break;
    }
    const start = bits.byteOffset;
    bits.skip(size * 8);
    if (((header >> 3) & 15) === OBU_SEQUENCE_HEADER) return av1C.subarray(start, start + size);
  }
  throw new FormatError("a sequence header in av1C", 4);
}

/** AV1 5.5.1. */
function readSequenceHeader(obu: Uint8Array): Pick<VideoDescription, "width" | "height" | "frameRate" | "range"> {
  const bits = new BitReader(obu);
  const profile = bits.bits(3);
  bits.skip(1);
  const reduced = bits.flag();
  let frameRate: number | null = null;
  if (reduced) bits.skip(5);
  else frameRate = readTimingAndOperatingPoints(bits);
  const widthBits = bits.bits(4) + 1;
  const heightBits = bits.bits(4) + 1;
  const width = bits.bits(widthBits) + 1;
  const height = bits.bits(heightBits) + 1;
  checkSize(width, height, bits.byteOffset);
  const range = readVideoRange(bits, (rest) => readTransfer(rest, profile, reduced));
  return { width, height, frameRate, range };
}

function readTimingAndOperatingPoints(bits: BitReader): number | null {
  let frameRate: number | null = null;
  let delayBits = 0;
  if (bits.flag()) {
    const unitsInTick = bits.bits(32);
    const timeScale = bits.bits(32);
    if (bits.flag()) {
      const rate = timeScale / (unitsInTick * (bits.unsignedExpGolomb() + 1));
      if (rate > 0 && rate <= 1000) frameRate = rate;
    }
    if (bits.flag()) {
      delayBits = bits.bits(5) + 1;
      bits.skip(42);
    }
  }
  const displayDelays = bits.flag();
  for (let points = bits.bits(5) + 1; points > 0; points--) {
    bits.skip(12);
    if (bits.bits(5) > 7) bits.skip(1);
    if (delayBits > 0 && bits.flag()) bits.skip(2 * delayBits + 1);
    if (displayDelays && bits.flag()) bits.skip(4);
  }
  return frameRate;
}

/** From behind the maximum frame size to `transfer_characteristics` (AV1 5.5.1, 5.5.2); null if it is not declared. */
function readTransfer(bits: BitReader, profile: number, reduced: boolean): number | null {
  if (!reduced && bits.flag()) bits.skip(7); // frame ids
  bits.skip(3);
  if (!reduced) skipTools(bits);
  bits.skip(3);
  const highBitDepth = bits.flag();
  if (profile === 2 && highBitDepth) bits.skip(1);
  if (profile !== 1) bits.skip(1); // mono_chrome
  if (!bits.flag()) return null;
  bits.skip(8); // color_primaries
  return bits.bits(8);
}

function skipTools(bits: BitReader): void {
  bits.skip(4);
  const hasOrderHint = bits.flag();
  if (hasOrderHint) bits.skip(2);
  const mayForceScreenTools = bits.flag() || bits.flag();
  if (mayForceScreenTools && !bits.flag()) bits.skip(1);
  if (hasOrderHint) bits.skip(3);
}
