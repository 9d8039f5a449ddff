import { HEADER, MOOF, TFDT_SIZE, TFHD_AT, TRUN_DURATION, TRUN_HEADER, viewOf } from "./fragment-layout.ts";

/**
 * Returns the data of the first sample, given the first bytes of a fragment written by this package. Null if more bytes are needed or the input is
 * not a fragment.
 */
export function firstSampleOf(beginning: Uint8Array): Uint8Array | null {
  const found = firstSampleAt(beginning);
  return found && found.end <= beginning.byteLength ? beginning.subarray(found.start, found.end) : null;
}

/**
 * Where the first sample is, in bytes from the beginning of a fragment written by this package, of which at least the `moof` and the header of the `mdat` are given.
 * Null if more bytes are needed or the input is not a fragment.
 */
export function firstSampleAt(beginning: Uint8Array): { readonly start: number; readonly end: number } | null {
  const view = viewOf(beginning);
  if (view.byteLength < TFHD_AT + HEADER || view.getUint32(4) !== MOOF) return null;
  const mediaAt = view.getUint32(0) + HEADER;
  const trunAt = TFHD_AT + view.getUint32(TFHD_AT) + TFDT_SIZE;
  if (view.byteLength < mediaAt || trunAt + TRUN_HEADER + HEADER > mediaAt) return null;
  const hasDuration = view.getUint32(trunAt + HEADER) & TRUN_DURATION;
  return { start: mediaAt, end: mediaAt + view.getUint32(trunAt + TRUN_HEADER + (hasDuration ? 4 : 0)) };
}
