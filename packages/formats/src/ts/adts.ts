import { FormatError } from "../bits/index.ts";
import { AAC_SAMPLE_RATES, describeAac } from "../codecs/index.ts";

export const ADTS_HEAD_BYTES = 7;
/** aac_frame_length has 13 bits. */
const MAX_FRAME_BYTES = 0x1fff;
const LC_PROFILE = 1;
const BUFFER_FULLNESS_UNKNOWN = 0x7ff;

/** Writes the header of each AAC frame (ISO/IEC 14496-3 1.A.2.2) from the AudioSpecificConfig. */
export class AdtsHeads {
  readonly #rateIndex: number;
  readonly #channels: number;

  /** Throws `FormatError` for a configuration that ADTS cannot express. */
  constructor(config: Uint8Array) {
    const { sampleRate, channels, frameSamples } = describeAac(config);
    this.#rateIndex = AAC_SAMPLE_RATES.indexOf(sampleRate);
    this.#channels = channels === 8 ? 7 : channels;
    if (this.#rateIndex < 0 || channels === 7 || channels > 8 || frameSamples !== 1024)
      throw new FormatError(
        "AAC with 1024 samples per frame and a sample rate and channel count that ADTS can express",
        0,
      );
  }

  /** Writes the header of a frame of `bytes` bytes into `out`. */
  put(out: Uint8Array, at: number, bytes: number): void {
    const length = ADTS_HEAD_BYTES + bytes;
    if (length > MAX_FRAME_BYTES) throw new FormatError("an AAC frame of less than 8 kB", 0);
    out[at] = 0xff;
    out[at + 1] = 0xf1;
    out[at + 2] = (LC_PROFILE << 6) | (this.#rateIndex << 2) | (this.#channels >> 2);
    out[at + 3] = ((this.#channels & 3) << 6) | (length >> 11);
    out[at + 4] = length >> 3;
    out[at + 5] = ((length & 7) << 5) | (BUFFER_FULLNESS_UNKNOWN >> 6);
    out[at + 6] = (BUFFER_FULLNESS_UNKNOWN & 0x3f) << 2;
  }
}
