import {
  HEADER,
  MDAT,
  MFHD,
  MFHD_SIZE,
  MOOF,
  TFDT,
  TFDT_SIZE,
  TFHD,
  TRAF,
  TRUN,
  TRUN_COMPOSITION,
  TRUN_DURATION,
  TRUN_FLAGS,
  TRUN_HEADER,
  TRUN_SIZE,
} from "./fragment-layout.ts";

/** One coded sample on its rendition's timeline. Times and duration are in ticks of the track's timescale. */
export interface FragmentSample {
  /** Presentation time, at or after `decodeTime`. */
  readonly time: number;
  readonly decodeTime: number;
  readonly duration: number;
  readonly isIndependent: boolean;
  readonly data: Uint8Array;
}

export const VIDEO_TRACK_ID = 1;
export const AUDIO_TRACK_ID = 2;

// ISO/IEC 14496-12 8.8.3.1: a sync sample that depends on no other; a non-sync sample that depends on others.
const INDEPENDENT_FLAGS = 0x02000000;
const DEPENDENT_FLAGS = 0x01010000;

// 8.8.7.1 tfhd: default-base-is-moof, default-sample-duration-present, default-sample-flags-present.
const TFHD_BASE_IS_MOOF = 0x020000;
const TFHD_DURATION = 0x08;
const TFHD_FLAGS = 0x20;
// 8.8.8.1 trun: data-offset-present.
const TRUN_DATA_OFFSET = 0x01;

/**
 * Writes `moof` and `mdat` of one CMAF chunk (ISO/IEC 23000-19 7.3.2.3) as views: first everything before the media, then the data of each sample,
 * uncopied. Decode times must be contiguous, since only the first one is written (`tfdt`); the others follow from the durations.
 */
export function writeVideoFragment(sequence: number, samples: readonly FragmentSample[]): Uint8Array[] {
  const trunSize = TRUN_HEADER + 16 * samples.length;
  const writer = new FragmentWriter(16, trunSize, samples);
  writer.begin(sequence, VIDEO_TRACK_ID, TFHD_BASE_IS_MOOF);
  writer.decodeTime(samples[0]?.decodeTime ?? 0);
  writer.run(TRUN_DATA_OFFSET | TRUN_DURATION | TRUN_SIZE | TRUN_FLAGS | TRUN_COMPOSITION);
  for (const sample of samples) {
    writer.uint32(sample.duration);
    writer.uint32(sample.data.byteLength);
    writer.uint32(sample.isIndependent ? INDEPENDENT_FLAGS : DEPENDENT_FLAGS);
    writer.uint32(sample.time - sample.decodeTime);
  }
  return writer.finish();
}

/** Like `writeVideoFragment`, for audio frames. If all have the same duration, as AAC frames do, it is written once, in `tfhd`. */
export function writeAudioFragment(sequence: number, samples: readonly FragmentSample[]): Uint8Array[] {
  const duration = samples[0]?.duration ?? 0;
  const isConstant = samples.every((sample) => sample.duration === duration);
  const writer = new FragmentWriter(24, TRUN_HEADER + (isConstant ? 4 : 8) * samples.length, samples);
  writer.begin(sequence, AUDIO_TRACK_ID, TFHD_BASE_IS_MOOF | TFHD_DURATION | TFHD_FLAGS);
  writer.uint32(duration);
  writer.uint32(INDEPENDENT_FLAGS);
  writer.decodeTime(samples[0]?.decodeTime ?? 0);
  writer.run(TRUN_DATA_OFFSET | TRUN_SIZE | (isConstant ? 0 : TRUN_DURATION));
  for (const sample of samples) {
    if (!isConstant) writer.uint32(sample.duration);
    writer.uint32(sample.data.byteLength);
  }
  return writer.finish();
}

class FragmentWriter {
  readonly #samples: readonly FragmentSample[];
  readonly #out: Uint8Array;
  readonly #tfhdSize: number;
  readonly #trunSize: number;
  readonly #moofSize: number;
  #at = 0;

  constructor(tfhdSize: number, trunSize: number, samples: readonly FragmentSample[]) {
    this.#samples = samples;
    this.#tfhdSize = tfhdSize;
    this.#trunSize = trunSize;
    this.#moofSize = HEADER + MFHD_SIZE + HEADER + tfhdSize + TFDT_SIZE + trunSize;
    this.#out = new Uint8Array(this.#moofSize + HEADER);
  }

  begin(sequence: number, trackId: number, tfhdFlags: number): void {
    this.#box(this.#moofSize, MOOF);
    this.#box(MFHD_SIZE, MFHD);
    this.uint32(0);
    this.uint32(sequence);
    this.#box(HEADER + this.#tfhdSize + TFDT_SIZE + this.#trunSize, TRAF);
    this.#box(this.#tfhdSize, TFHD);
    this.uint32(tfhdFlags);
    this.uint32(trackId);
  }

  decodeTime(ticks: number): void {
    this.#box(TFDT_SIZE, TFDT);
    this.uint32(0x01000000); // version 1: 64 bits
    this.uint32(Math.floor(ticks / 0x1_0000_0000));
    this.uint32(ticks);
  }

  run(flags: number): void {
    this.#box(this.#trunSize, TRUN);
    this.uint32(flags); // version 0: offsets are unsigned
    this.uint32(this.#samples.length);
    this.uint32(this.#moofSize + HEADER);
  }

  uint32(value: number): void {
    const out = this.#out;
    const at = this.#at;
    out[at] = value >>> 24;
    out[at + 1] = value >>> 16;
    out[at + 2] = value >>> 8;
    out[at + 3] = value;
    this.#at = at + 4;
  }

  finish(): Uint8Array[] {
    const pieces = [this.#out];
    let size = HEADER;
    for (const { data } of this.#samples) {
      pieces.push(data);
      size += data.byteLength;
    }
    this.#box(size, MDAT);
    return pieces;
  }

  #box(size: number, type: number): void {
    this.uint32(size);
    this.uint32(type);
  }
}
