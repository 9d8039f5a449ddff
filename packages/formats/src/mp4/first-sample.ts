const MOOF = 0x6d6f6f66;
const HEADER = 8;
const TFHD_AT = 32;
const TFDT_SIZE = 20;
const FIRST_ROW_AT = 20;
const TRUN_DURATION = 0x100;

/**
 * Returns the data of the first sample, given the first bytes of a fragment written by this package. Null if more bytes are needed or the input is
 * not a fragment.
 */
export function firstSampleOf(beginning: Uint8Array): Uint8Array | null {
  const view = new DataView(beginning.buffer, beginning.byteOffset, beginning.byteLength);
  if (view.byteLength < TFHD_AT + HEADER || view.getUint32(4) !== MOOF) return null;
  const mediaAt = view.getUint32(0) + HEADER;
  const trunAt = TFHD_AT + view.getUint32(TFHD_AT) + TFDT_SIZE;
  if (view.byteLength < mediaAt || trunAt + FIRST_ROW_AT + HEADER > mediaAt) return null;
  const hasDuration = view.getUint32(trunAt + HEADER) & TRUN_DURATION;
  const end = mediaAt + view.getUint32(trunAt + FIRST_ROW_AT + (hasDuration ? 4 : 0));
  return end > view.byteLength ? null : beginning.subarray(mediaAt, end);
}
