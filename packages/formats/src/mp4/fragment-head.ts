import { HEADER, MDAT, MOOF, viewOf } from "./fragment-layout.ts";

/** A part has at most 1,000 samples of 16 bytes each, a segment 4,000. */
export const MAX_MOOF_BYTES = 1 << 20;

export interface FragmentHead {
  readonly moof: Uint8Array;
  /** Size of the whole fragment: `moof` and `mdat`. */
  readonly bytes: number;
}

/** Reads the beginning of a fragment up to the header of its `mdat`. Null if it is none. */
export function fragmentHead(beginning: Uint8Array): FragmentHead | "incomplete" | null {
  const view = viewOf(beginning);
  if (view.byteLength < HEADER) return "incomplete";
  const moofBytes = view.getUint32(0);
  if (view.getUint32(4) !== MOOF || moofBytes < HEADER || moofBytes > MAX_MOOF_BYTES) return null;
  if (view.byteLength < moofBytes + HEADER) return "incomplete";
  const mdatBytes = view.getUint32(moofBytes);
  if (view.getUint32(moofBytes + 4) !== MDAT || mdatBytes < HEADER) return null;
  return { moof: beginning.subarray(0, moofBytes), bytes: moofBytes + mdatBytes };
}
