import { HEADER, MOOF, TFDT_SIZE, TFHD_AT, TRUN_DURATION, TRUN_HEADER, viewOf } from "./fragment-layout.ts";

/**
 * Returns the data of the first sample, given the first bytes of a fragment written by this package. Null if more bytes are needed or the input is
 * not a fragment.
 */
export function firstSampleOf(beginning: Uint8Array): Uint8Array | null {
  const view = viewOf(beginning);
  if (view.byteLength < TFHD_AT + HEADER || view.getUint32(4) !== MOOF) return null;
  const mediaAt = view.getUint32(0) + HEADER;
  const trunAt = TFHD_AT + view.getUint32(TFHD_AT) + TFDT_SIZE;
  if (view.byteLength < mediaAt || trunAt + TRUN_HEADER + HEADER > mediaAt) return null;
  const hasDuration = view.getUint32(trunAt + HEADER) & TRUN_DURATION;
  const end = mediaAt + view.getUint32(trunAt + TRUN_HEADER + (hasDuration ? 4 : 0));
  return end > view.byteLength ? null : beginning.subarray(mediaAt, end);
}
