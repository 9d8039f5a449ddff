import { FormatError } from "../bits/index.ts";
import { AAC_SAMPLE_RATES } from "../codecs/index.ts";
import { ADTS_HEAD_BYTES } from "./adts.ts";

export interface AdtsFrame {
  /** The AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1) that the header stands for. */
  readonly config: Uint8Array;
  readonly sampleRate: number;
  /** One raw_data_block. */
  readonly data: Uint8Array;
}

/** adts_fixed_header with a sync word and layer 0 (ISO/IEC 14496-3 1.A.2.2.1). */
export function adtsFrameBytes(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xf6) !== 0xf0 || rateIndex(bytes, at) >= AAC_SAMPLE_RATES.length)
    return 0;
  const length = (((bytes[at + 3] ?? 0) & 3) << 11) | ((bytes[at + 4] ?? 0) << 3) | ((bytes[at + 5] ?? 0) >> 5);
  return length > headBytes(bytes, at) ? length : 0;
}

/** Throws `FormatError` for a frame of several blocks, whose borders only a decoder finds. */
export function readAdtsFrame(frame: Uint8Array): AdtsFrame {
  if (((frame[6] ?? 0) & 3) !== 0) throw new FormatError("ADTS frames of one block", 6);
  const index = rateIndex(frame, 0);
  const objectType = ((frame[2] ?? 0) >> 6) + 1;
  const channels = (((frame[2] ?? 0) & 1) << 2) | ((frame[3] ?? 0) >> 6);
  const config = Uint8Array.of((objectType << 3) | (index >> 1), ((index & 1) << 7) | (channels << 3));
  return { config, sampleRate: AAC_SAMPLE_RATES[index] ?? 0, data: frame.subarray(headBytes(frame, 0)) };
}

const rateIndex = (bytes: Uint8Array, at: number): number => ((bytes[at + 2] ?? 0) >> 2) & 15;
/** protection_absent: without it a CRC follows. */
const headBytes = (bytes: Uint8Array, at: number): number => ADTS_HEAD_BYTES + ((bytes[at + 1] ?? 0) & 1 ? 0 : 2);
