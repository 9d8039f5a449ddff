import { BitReader } from "../bits/index.ts";
import { withoutEmulationPrevention } from "./nal-units.ts";

/** What the slices of a picture are written with, out of its picture parameter set (ITU-T H.264 7.3.2.2). */
export interface AvcPictureSet {
  readonly id: number;
  readonly sequenceSet: number;
  readonly isCabac: boolean;
  readonly hasBottomOrder: boolean;
  readonly hasSliceGroups: boolean;
  readonly isWeighted: boolean;
  readonly qp: number;
  /** How much the quantisers of Cb and Cr differ from that of luma. */
  readonly chromaQpOffsets: readonly [number, number];
  readonly hasDeblockingControl: boolean;
  readonly hasRedundantCount: boolean;
  readonly hasScalingLists: boolean;
}

/** Reads a PPS with its header byte. Throws `FormatError`. */
export function readAvcPictureSet(pps: Uint8Array): AvcPictureSet {
  const rbsp = withoutEmulationPrevention(pps);
  const bits = new BitReader(rbsp, 1);
  const [id, sequenceSet] = [bits.unsignedExpGolomb(), bits.unsignedExpGolomb()];
  const [isCabac, hasBottomOrder] = [bits.flag(), bits.flag()];
  const hasSliceGroups = bits.unsignedExpGolomb() > 0;
  // What follows slice groups is not read: nobody writes slices for these pictures.
  if (!hasSliceGroups) {
    bits.unsignedExpGolomb(); // num_ref_idx_l0_default_active_minus1
    bits.unsignedExpGolomb();
  }
  const isWeighted = bits.flag();
  bits.skip(2); // weighted_bipred_idc
  const qp = 26 + bits.signedExpGolomb();
  bits.signedExpGolomb(); // pic_init_qs_minus26
  const cbOffset = bits.signedExpGolomb();
  const hasDeblockingControl = bits.flag();
  bits.skip(1); // constrained_intra_pred_flag
  const hasRedundantCount = bits.flag();
  const { hasScalingLists, crOffset } = readExtension(bits, lastOne(rbsp), cbOffset);
  const coding = { isCabac, isWeighted, qp, hasDeblockingControl, hasScalingLists };
  const chromaQpOffsets = [cbOffset, crOffset] as const;
  return { id, sequenceSet, ...coding, chromaQpOffsets, hasBottomOrder, hasSliceGroups, hasRedundantCount };
}

/** What the High profiles add, which is there if bits are left before the stop bit. Behind scaling lists nothing is read. */
function readExtension(bits: BitReader, stopBitsLeft: number, cbOffset: number) {
  if (bits.bitsLeft <= stopBitsLeft) return { hasScalingLists: false, crOffset: cbOffset };
  bits.skip(1); // transform_8x8_mode_flag
  const hasScalingLists = bits.flag();
  return { hasScalingLists, crOffset: hasScalingLists ? cbOffset : bits.signedExpGolomb() };
}

/** Bits from the stop bit on: the last 1, and zeros behind it. */
function lastOne(rbsp: Uint8Array): number {
  let end = rbsp.length;
  while (end > 0 && rbsp[end - 1] === 0) end--;
  const zeros = 31 - Math.clz32((rbsp[end - 1] ?? 1) & -(rbsp[end - 1] ?? 1));
  return (rbsp.length - end) * 8 + zeros + 1;
}
