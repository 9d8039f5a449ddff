/** Frame headers of the audio that broadcast encoders send and that players of HLS do not all take. */

export const MPEG_AUDIO_HEAD_BYTES = 4;
/** syncinfo, and the bsid behind it. */
export const AC3_HEAD_BYTES = 6;

export interface CompressedFrame {
  /** 0 if no frame starts here. */
  readonly bytes: number;
  readonly samples: number;
  readonly sampleRate: number;
}

const NONE: CompressedFrame = { bytes: 0, samples: 0, sampleRate: 1 };

/** ISO/IEC 11172-3 2.4.2.3 and 13818-3 2.4.2.3: kbit/s of MPEG-1 layers I, II, III, and of MPEG-2 layer I, and layers II and III. */
const KILOBITS = [
  [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const MPEG_RATES = [44_100, 48_000, 32_000];

/** A frame of MPEG-1 or MPEG-2 audio; no free format. */
export function mpegAudioFrame(bytes: Uint8Array, at: number): CompressedFrame {
  const [second = 0, third = 0] = [bytes[at + 1], bytes[at + 2]];
  if (bytes[at] !== 0xff || (second & 0xf0) !== 0xf0) return NONE;
  const isFirst = (second & 8) !== 0;
  const layer = 4 - ((second >> 1) & 3);
  const rate = MPEG_RATES[(third >> 2) & 3];
  const kilobits = KILOBITS[isFirst ? layer - 1 : layer === 1 ? 3 : 4]?.[(third >> 4) - 1];
  if (layer > 3 || !rate || !kilobits) return NONE;
  const sampleRate = isFirst ? rate : rate / 2;
  const padding = (third >> 1) & 1;
  if (layer === 1)
    return { bytes: (Math.floor((12_000 * kilobits) / sampleRate) + padding) * 4, samples: 384, sampleRate };
  const samples = layer === 3 && !isFirst ? 576 : 1152;
  return { bytes: Math.floor(((samples / 8) * 1000 * kilobits) / sampleRate) + padding, samples, sampleRate };
}

/** ETSI TS 102 366 table 4.13: kbit/s. */
const AC3_KILOBITS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
const AC3_RATES = [48_000, 44_100, 32_000];
const AC3_SAMPLES = 1536;
/** E.1.2.2: bsid of E-AC-3. */
const ENHANCED = { least: 11, most: 16 };
const DEPENDENT_SUBSTREAM = 1;
const BLOCKS = [1, 2, 3, 6];
const BLOCK_SAMPLES = 256;

/** A frame of AC-3 or E-AC-3. A dependent substream lasts for no samples of its own. */
export function ac3Frame(bytes: Uint8Array, at: number): CompressedFrame {
  const [, , third = 0, fourth = 0, fifth = 0, sixth = 0] = bytes.subarray(at, at + AC3_HEAD_BYTES);
  if (bytes[at] !== 0x0b || bytes[at + 1] !== 0x77) return NONE;
  const version = sixth >> 3;
  const rate = AC3_RATES[fifth >> 6];
  if (version >= ENHANCED.least && version <= ENHANCED.most) {
    const size = 2 * ((((third & 7) << 8) | fourth) + 1);
    const isDependent = third >> 6 === DEPENDENT_SUBSTREAM;
    // Reduced sample rates have six blocks.
    const sampleRate = rate ?? (AC3_RATES[(fifth >> 4) & 3] ?? 48_000) / 2;
    const blocks = rate ? (BLOCKS[(fifth >> 4) & 3] ?? 6) : 6;
    return { bytes: size, samples: isDependent ? 0 : BLOCK_SAMPLES * blocks, sampleRate };
  }
  const code = fifth & 63;
  const kilobits = AC3_KILOBITS[code >> 1];
  if (version >= ENHANCED.least || !rate || !kilobits) return NONE;
  const words =
    rate === 44_100 ? Math.floor((320 * kilobits) / 147) + (code & 1) : (kilobits * AC3_SAMPLES * 1000) / (16 * rate);
  return { bytes: 2 * words, samples: AC3_SAMPLES, sampleRate: rate };
}
