import { type BitReader, FormatError } from "../bits/index.ts";

/** How the values of a picture map to light: standard dynamic range, or one of the two curves of high dynamic range (ITU-R BT.2100). */
export type VideoRange = "SDR" | "PQ" | "HLG";

const PQ = 16;
const HLG = 18;

/** By `transfer_characteristics` (ITU-T H.273 8.2). */
export function videoRangeOf(transfer: number): VideoRange {
  return transfer === PQ ? "PQ" : transfer === HLG ? "HLG" : "SDR";
}

/** Reads on to the transfer characteristics with `read`. Where they cannot be read or are not declared, pictures have standard range. */
export function readVideoRange(bits: BitReader, read: (bits: BitReader) => number | null): VideoRange {
  try {
    return videoRangeOf(read(bits) ?? 0);
  } catch (error) {
    if (error instanceof FormatError) return "SDR";
    throw error;
  }
}
