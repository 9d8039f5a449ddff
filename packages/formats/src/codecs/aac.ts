import { BitReader, BitWriter, FormatError } from "../bits/index.ts";

/** The coded frames that an AudioSpecificConfig describes: before SBR doubles the sample rate and parametric stereo doubles the channels. */
export interface AacDescription {
  /** RFC 6381: `mp4a.40.2` for LC, `mp4a.40.5` with SBR, `mp4a.40.29` with parametric stereo. */
  readonly codecString: string;
  /** Coded samples per second and channel. */
  readonly sampleRate: number;
  readonly channels: number;
  /** Coded samples per frame and channel: 1024, or 960. */
  readonly frameSamples: number;
}

/** ISO/IEC 14496-3 table 1.18, by samplingFrequencyIndex. */
export const AAC_SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
/** Table 1.19, by channelConfiguration; 0 for reserved ones. */
const CHANNELS: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 0, 8];
/** Limit of the channels that a program_config_element may list. No numbered configuration has more, and `silentAacFrame` knows no more. */
const MAX_CHANNELS = 8;

const TYPE_LTP = 4;
const TYPE_SBR = 5;
const TYPE_PS = 29;
const SYNC_SBR = 0x2b7;
const SYNC_PS = 0x548;

/**
 * Describes an AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1). Throws `FormatError` for invalid input and for object types other than AAC, with or
 * without SBR and PS.
 */
export function describeAac(config: Uint8Array): AacDescription {
  return readAacConfig(new BitReader(config), true);
}

/** As `describeAac`, of bits that start with the configuration. `isWhole`: they end with it, so that extensions can be told from what follows. */
export function readAacConfig(bits: BitReader, isWhole: boolean): AacDescription {
  let type = readObjectType(bits);
  const sampleRate = readSampleRate(bits);
  const channelConfiguration = bits.bits(4);
  let profile = 0;
  if (type === TYPE_SBR || type === TYPE_PS) {
    profile = type;
    readSampleRate(bits);
    type = readObjectType(bits);
  }
  if (type < 1 || type > TYPE_LTP) throw new FormatError(`an AAC object type, not ${type},`, 0);
  const frameSamples = bits.flag() ? 960 : 1024;
  if (bits.flag()) bits.skip(14); // coreCoderDelay
  bits.skip(1);
  const channels = channelConfiguration === 0 ? readProgramChannels(bits) : CHANNELS[channelConfiguration];
  if (!channels || channels > MAX_CHANNELS)
    throw new FormatError(`a channel configuration of 1 to ${MAX_CHANNELS} channels`, 1);
  profile ||= (isWhole && readSyncExtension(bits)) || type;
  return { codecString: `mp4a.40.${profile}`, sampleRate, channels, frameSamples };
}

function readObjectType(bits: BitReader): number {
  const type = bits.bits(5);
  return type === 31 ? 32 + bits.bits(6) : type;
}

function readSampleRate(bits: BitReader): number {
  const index = bits.bits(4);
  const rate = index === 15 ? bits.bits(24) : (AAC_SAMPLE_RATES[index] ?? 0);
  if (rate < 1000 || rate > 192_000) throw new FormatError("a sampling frequency of 1 to 192 kHz", bits.byteOffset);
  return rate;
}

/**
 * Channels of a program_config_element (14496-3 4.4.1.1). A front, side or back element is one channel or a pair; the low-frequency elements follow.
 */
function readProgramChannels(bits: BitReader): number {
  bits.skip(10);
  const elements = bits.bits(4) + bits.bits(4) + bits.bits(4);
  const lowFrequency = bits.bits(2);
  const associated = bits.bits(3);
  const coupling = bits.bits(4);
  if (bits.flag()) bits.skip(4); // mono mixdown
  if (bits.flag()) bits.skip(4); // stereo mixdown
  if (bits.flag()) bits.skip(3); // matrix mixdown
  let channels = lowFrequency;
  for (let i = 0; i < elements; i++) {
    channels += bits.flag() ? 2 : 1;
    bits.skip(4);
  }
  bits.skip(lowFrequency * 4 + associated * 4 + coupling * 5);
  bits.skip(bits.bitsLeft % 8);
  bits.skip(bits.bits(8) * 8); // comment
  return channels;
}

/**
 * Reads the backward-compatible signalling of SBR and PS: sync words after the configuration, which encoders often truncate. Returns 0 without it.
 */
function readSyncExtension(bits: BitReader): number {
  if (bits.bitsLeft < 16 || bits.bits(11) !== SYNC_SBR || readObjectType(bits) !== TYPE_SBR) return 0;
  if (bits.bitsLeft < 1 || !bits.flag()) return 0;
  readSampleRate(bits);
  const hasPs = bits.bitsLeft >= 12 && bits.bits(11) === SYNC_PS && bits.flag();
  return hasPs ? TYPE_PS : TYPE_SBR;
}

const SINGLE = 0;
const PAIR = 1;
const LOW_FREQUENCY = 3;
const END = 7;

// ISO/IEC 14496-3 table 1.19: the elements for each channel count, in order.
const ELEMENTS: Readonly<Record<number, readonly number[]>> = {
  1: [SINGLE],
  2: [PAIR],
  3: [SINGLE, PAIR],
  4: [SINGLE, PAIR, SINGLE],
  5: [SINGLE, PAIR, PAIR],
  6: [SINGLE, PAIR, PAIR, LOW_FREQUENCY],
  7: [SINGLE, PAIR, PAIR, SINGLE, LOW_FREQUENCY],
  8: [SINGLE, PAIR, PAIR, PAIR, LOW_FREQUENCY],
};

/**
 * One silent AAC frame (raw_data_block, ISO/IEC 14496-3 4.4.2.1) for 1 to 8 channels: it codes no scale factor band. Throws `RangeError` for other
 * counts.
 */
export function silentAacFrame(channels: number): Uint8Array {
  const elements = ELEMENTS[channels];
  if (!elements) throw new RangeError(`no AAC channel layout has ${channels} channels; use 1 to 8`);
  const bits = new BitWriter();
  const tags = [0, 0, 0, 0];
  for (const element of elements) {
    const tag = tags[element] ?? 0;
    tags[element] = tag + 1;
    bits.bits(element, 3).bits(tag, 4);
    if (element === PAIR) {
      bits.flag(true); // common_window: one ics_info for both
      writeWindow(bits).bits(0, 2); // ms_mask_present
      writeEmptyChannel(bits);
      writeEmptyChannel(bits);
    } else {
      bits.bits(0, 8); // global_gain comes before ics_info here
      writeWindow(bits).bits(0, 3);
    }
  }
  return bits.bits(END, 3).toBytes();
}

/** ics_info: reserved bit, one long window, sine shape, max_sfb 0, no prediction. */
function writeWindow(bits: BitWriter): BitWriter {
  return bits.bits(0, 11);
}

/** One channel of a pair: global_gain, then no pulses, no temporal noise shaping and no gain control. */
function writeEmptyChannel(bits: BitWriter): void {
  bits.bits(0, 8 + 3);
}
