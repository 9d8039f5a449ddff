/**
 * Layout of the fragments that `writeVideoFragment` and `writeAudioFragment` write, for code that reads or edits them in place:
 * `moof` with `mfhd` and `traf`, which has `tfhd`, `tfdt` (64 bits) and `trun`; then `mdat` (ISO/IEC 14496-12 8.8). All numbers are bytes.
 */

export const MOOF = 0x6d6f6f66;
export const MFHD = 0x6d666864;
export const TRAF = 0x74726166;
export const TFHD = 0x74666864;
export const TFDT = 0x74666474;
export const TRUN = 0x7472756e;
export const MDAT = 0x6d646174;

/** Size and type of a box. */
export const HEADER = 8;
export const MFHD_SIZE = 16;
export const TFDT_SIZE = 20;
/** A `trun` up to the first sample's row: box header, flags, sample count, data offset. */
export const TRUN_HEADER = 20;

/** From the start of the `moof`. */
export const SEQUENCE_AT = 20;
export const TRAF_AT = 24;
export const TFHD_AT = 32;
/** From the start of the `tfhd`; video fragments have no default duration. */
export const TFHD_DURATION_AT = 16;
/** From the start of the `tfdt`. */
export const TFDT_TIME_AT = 12;
/** From the start of the `trun`. */
export const SAMPLE_COUNT_AT = 12;
export const DATA_OFFSET_AT = 16;

/** Flags of the `trun` (8.8.8.1): which fields each sample's row has. */
export const TRUN_DURATION = 0x100;
export const TRUN_SIZE = 0x200;
export const TRUN_FLAGS = 0x400;
export const TRUN_COMPOSITION = 0x800;

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
