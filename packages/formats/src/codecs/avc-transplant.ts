import { BitReader, BitWriter, FormatError } from "../bits/index.ts";
import { type AvcSequence, avcParameterSets, readAvcSequence } from "./avc.ts";
import { type AvcPictureSet, readAvcPictureSet } from "./avc-picture-set.ts";
import {
  lengthPrefixed,
  unitsOfFourByteLengths,
  withEmulationPrevention,
  withoutEmulationPrevention,
} from "./nal-units.ts";

const IDR = 5;
/** `nal_ref_idc` 3, a slice of an IDR picture. */
const IDR_SLICE = 0x65;
/** All slices of the picture are I slices. */
const I_SLICES = 7;

/** How a picture must be encoded to be moved to a configuration. */
export interface AvcHost {
  readonly isCabac: boolean;
  readonly chromaQpOffset: number;
}

interface ParameterSets {
  readonly sequence: AvcSequence;
  readonly picture: AvcPictureSet;
}

/** Null for a configuration that takes no picture of another encoder: of fields, of more than 8 bits, with scaling lists, or unreadable. */
export function avcHost(avcC: Uint8Array): AvcHost | null {
  const { picture } = orNull(() => hostSets(avcC)) ?? {};
  return picture ? { isCabac: picture.isCabac, chromaQpOffset: picture.chromaQpOffsets[0] } : null;
}

/**
 * An IDR picture of one slice, written anew for the parameter sets of another configuration: the header of the slice changes, and its data stays as it
 * is. The data must not depend on what the sets may differ in, so every macroblock is I_PCM or Intra_16x16: those have no flag for a transform of 8x8. Both
 * access units have 4-byte lengths. Null where they do not fit.
 */
export function avcTransplant(
  from: { readonly config: Uint8Array; readonly keyframe: Uint8Array },
  avcC: Uint8Array,
): Uint8Array | null {
  return orNull(() => {
    const host = hostSets(avcC);
    const guest = setsOf(from.config);
    const slices = [...unitsOfFourByteLengths(from.keyframe)].filter(([header = 0]) => (header & 0x1f) === IDR);
    const [slice] = slices;
    if (!host || !slice || slices.length > 1 || !areAlike(host, guest)) return null;
    const rbsp = withoutEmulationPrevention(slice);
    const { bits, qp } = readHeader(rbsp, guest);
    const header = writeHeader(host, qp);
    const nal = guest.picture.isCabac ? alignedData(header, rbsp, bits) : shiftedData(header, bits);
    return lengthPrefixed([withEmulationPrevention(nal)]);
  });
}

function orNull<Value>(read: () => Value | null): Value | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

/** The first PPS, and its SPS. */
function setsOf(avcC: Uint8Array): ParameterSets {
  const sets = avcParameterSets(avcC);
  const picture = sets.pps.map(readAvcPictureSet)[0];
  const sequence = sets.sps.map(readAvcSequence).find(({ id }) => id === picture?.sequenceSet);
  if (!picture || !sequence) throw new FormatError("a picture parameter set with its sequence", 0);
  return { picture, sequence };
}

function hostSets(avcC: Uint8Array): ParameterSets | null {
  const sets = setsOf(avcC);
  const { sequence, picture } = sets;
  const [cb, cr] = picture.chromaQpOffsets;
  const isPlain = sequence.isPlain && sequence.isProgressive && !picture.hasScalingLists && !picture.hasSliceGroups;
  return isPlain && cb === cr ? sets : null;
}

/** Whether the data of a slice means the same for both. */
function areAlike(host: ParameterSets, guest: ParameterSets): boolean {
  const shapeOf = ({ sequence, picture }: ParameterSets) =>
    [sequence.macroblocks, sequence.macroblocksAcross, picture.isCabac, ...picture.chromaQpOffsets].join();
  return guest.sequence.isPlain && guest.sequence.isProgressive && shapeOf(host) === shapeOf(guest);
}

/** 7.3.3, of an I slice of an IDR picture: where its data begins, and its quantiser. */
function readHeader(rbsp: Uint8Array, { sequence, picture }: ParameterSets): { bits: BitReader; qp: number } {
  const bits = new BitReader(rbsp, 1);
  bits.unsignedExpGolomb(); // first_mb_in_slice
  bits.unsignedExpGolomb(); // slice_type
  bits.unsignedExpGolomb(); // pic_parameter_set_id
  bits.skip(sequence.frameNumBits);
  bits.unsignedExpGolomb(); // idr_pic_id
  if (sequence.pictureOrderBits !== null) {
    bits.skip(sequence.pictureOrderBits);
    if (picture.hasBottomOrder) bits.signedExpGolomb();
  } else if (sequence.hasPictureOrderDeltas) {
    bits.signedExpGolomb();
    if (picture.hasBottomOrder) bits.signedExpGolomb();
  }
  if (picture.hasRedundantCount) bits.unsignedExpGolomb();
  bits.skip(2); // no_output_of_prior_pics_flag, long_term_reference_flag
  const qp = picture.qp + bits.signedExpGolomb();
  if (picture.hasDeblockingControl && bits.unsignedExpGolomb() !== 1) {
    bits.signedExpGolomb();
    bits.signedExpGolomb();
  }
  return { bits, qp };
}

function writeHeader({ sequence, picture }: ParameterSets, qp: number): BitWriter {
  const bits = new BitWriter().bits(IDR_SLICE, 8);
  bits.unsignedExpGolomb(0).unsignedExpGolomb(I_SLICES).unsignedExpGolomb(picture.id);
  bits.bits(0, sequence.frameNumBits);
  bits.unsignedExpGolomb(0); // idr_pic_id
  if (sequence.pictureOrderBits !== null) {
    bits.bits(0, sequence.pictureOrderBits);
    if (picture.hasBottomOrder) bits.signedExpGolomb(0);
  } else if (sequence.hasPictureOrderDeltas) {
    bits.signedExpGolomb(0);
    if (picture.hasBottomOrder) bits.signedExpGolomb(0);
  }
  if (picture.hasRedundantCount) bits.unsignedExpGolomb(0);
  bits.flag(false).flag(false);
  bits.signedExpGolomb(qp - picture.qp);
  // Deblocked as usual: what pictures are predicted from within a slice is not deblocked, so both decode to the same.
  if (picture.hasDeblockingControl) bits.unsignedExpGolomb(0).signedExpGolomb(0).signedExpGolomb(0);
  return bits;
}

/** In CABAC it begins at a byte. */
function alignedData(header: BitWriter, rbsp: Uint8Array, bits: BitReader): Uint8Array {
  const begin = header.align(true).toBytes();
  const data = rbsp.subarray(rbsp.length - Math.floor(bits.bitsLeft / 8));
  const nal = new Uint8Array(begin.length + data.length);
  nal.set(begin);
  nal.set(data, begin.length);
  return nal;
}

/** In CAVLC it follows bit by bit, up to the stop bit. */
function shiftedData(header: BitWriter, bits: BitReader): Uint8Array {
  for (let left = bits.bitsLeft; left > 0; left -= 8) {
    const count = Math.min(8, left);
    header.bits(bits.bits(count), count);
  }
  const nal = header.toBytes();
  let end = nal.length;
  // A NAL unit does not end in a zero.
  while (end > 0 && nal[end - 1] === 0) end--;
  return nal.subarray(0, end);
}
