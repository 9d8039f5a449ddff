import { BitReader, BitWriter, FormatError } from "../bits/index.ts";
import { type AvcSequence, avcParameterSets, readAvcSequence } from "./avc.ts";
import { type AvcPictureSet, readAvcPictureSet } from "./avc-picture-set.ts";
import {
  lengthPrefixed,
  unitsOfFourByteLengths,
  withEmulationPrevention,
  withoutEmulationPrevention,
} from "./nal-units.ts";
import { SKIPPED_QP, skippedInCabac } from "./skipped-slice.ts";

const IDR = 5;
const SEI = 6;
/** `nal_ref_idc` 2, a slice of a picture that is no IDR. */
const REFERENCE_SLICE = 0x41;
/** All slices of the picture are P slices. */
const P_SLICES = 5;
/** More than the part of a slice header that is read. */
const HEADER_BYTES = 64;

/**
 * Access units that show the picture of an H.264 keyframe again, to be decoded right behind it and each other: every macroblock is skipped. `avcC` is
 * the configuration, and access units have 4-byte lengths. Null for what this cannot repeat: pictures of fields, slice groups, separate colour planes, streams without references, and
 * data that cannot be read.
 */
export function avcRepeats(avcC: Uint8Array, keyframe: Uint8Array, count: number): Uint8Array[] | null {
  try {
    const sets = avcParameterSets(avcC);
    const slice = idrSlice(keyframe);
    const picture = sets.pps.map(readAvcPictureSet).find(({ id }) => id === slice.pictureSet);
    const sequence = sets.sps.map(readAvcSequence).find(({ id }) => id === picture?.sequenceSet);
    if (!picture || !sequence?.isProgressive || sequence.hasSeparatePlanes) return null;
    if (picture.hasSliceGroups || sequence.maxReferences === 0) return null;
    const order = slice.pictureOrder(sequence);
    const data = picture.isCabac ? skippedInCabac(sequence.macroblocks) : null;
    return Array.from({ length: count }, (_, index) => {
      const header = sliceHeader(sequence, picture, index + 1, order);
      const nal = data ? [...header.align(true).toBytes(), ...data] : inRuns(header, sequence).toBytes();
      return lengthPrefixed([withEmulationPrevention(Uint8Array.from(nal))]);
    });
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

/** Removes SEI messages from an H.264 access unit with 4-byte lengths: captions and times are those of one picture, and must not be shown again. */
export function withoutAvcMessages(accessUnit: Uint8Array): Uint8Array {
  return lengthPrefixed([...unitsOfFourByteLengths(accessUnit)].filter(([header = 0]) => (header & 0x1f) !== SEI));
}

/** The first slice of an IDR picture (7.3.3). */
function idrSlice(accessUnit: Uint8Array) {
  for (const unit of unitsOfFourByteLengths(accessUnit)) {
    if (((unit[0] ?? 0) & 0x1f) !== IDR) continue;
    const header = unit.subarray(0, HEADER_BYTES);
    const bits = new BitReader(withoutEmulationPrevention(header), 1);
    bits.unsignedExpGolomb(); // first_mb_in_slice
    bits.unsignedExpGolomb(); // slice_type
    const pictureSet = bits.unsignedExpGolomb();
    const pictureOrder = ({ frameNumBits, pictureOrderBits }: AvcSequence): number => {
      bits.skip(frameNumBits);
      bits.unsignedExpGolomb(); // idr_pic_id
      return pictureOrderBits === null ? 0 : bits.bits(pictureOrderBits);
    };
    return { pictureSet, pictureOrder };
  }
  throw new FormatError("a slice of an IDR picture", 0);
}

/** All macroblocks skipped, in CAVLC: `mb_skip_run`, then the stop bit. */
function inRuns(header: BitWriter, { macroblocks }: AvcSequence): BitWriter {
  return header.unsignedExpGolomb(macroblocks).flag(true);
}

/** Of the `nth` picture behind an IDR picture with this `pic_order_cnt_lsb`, with the header of its NAL unit. Each refers to the one before it. */
function sliceHeader(sequence: AvcSequence, picture: AvcPictureSet, nth: number, idrOrder: number): BitWriter {
  const { frameNumBits, pictureOrderBits, hasPictureOrderDeltas, hasChroma } = sequence;
  const bits = new BitWriter().bits(REFERENCE_SLICE, 8);
  bits.unsignedExpGolomb(0).unsignedExpGolomb(P_SLICES).unsignedExpGolomb(picture.id);
  bits.bits(nth % 2 ** frameNumBits, frameNumBits);
  if (pictureOrderBits !== null) {
    bits.bits((idrOrder + 2 * nth) % 2 ** pictureOrderBits, pictureOrderBits);
    if (picture.hasBottomOrder) bits.unsignedExpGolomb(0); // delta_pic_order_cnt_bottom
  } else if (hasPictureOrderDeltas) {
    bits.unsignedExpGolomb(0); // delta_pic_order_cnt
    if (picture.hasBottomOrder) bits.unsignedExpGolomb(0);
  }
  if (picture.hasRedundantCount) bits.unsignedExpGolomb(0);
  bits.flag(true).unsignedExpGolomb(0); // one reference picture
  bits.flag(false); // in the usual order
  if (picture.isWeighted) {
    bits.unsignedExpGolomb(0); // without a weight of its own
    if (hasChroma) bits.unsignedExpGolomb(0);
    bits.flag(false);
    if (hasChroma) bits.flag(false);
  }
  bits.flag(false); // adaptive_ref_pic_marking_mode_flag
  if (picture.isCabac) bits.unsignedExpGolomb(0); // cabac_init_idc
  bits.signedExpGolomb(picture.isCabac ? SKIPPED_QP - picture.qp : 0);
  if (picture.hasDeblockingControl) bits.unsignedExpGolomb(1); // off
  return bits;
}
