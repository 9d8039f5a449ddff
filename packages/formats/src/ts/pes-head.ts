export const VIDEO_STREAM = 0xe0;
export const AUDIO_STREAM = 0xc0;
const MAX_LENGTH = 0xffff;

export interface PesTimes {
  readonly presentation: number;
  readonly decode: number;
}

export const pesHeadBytes = ({ presentation, decode }: PesTimes): number => (presentation === decode ? 14 : 19);

/** Writes the header of a PES packet (ISO/IEC 13818-1 2.4.3.6) with `bytes` bytes of payload to the start of `out`. Times are 90 kHz ticks. */
export function putPesHead(out: Uint8Array, streamId: number, bytes: number, times: PesTimes): void {
  const hasDecode = times.decode !== times.presentation;
  const timeBytes = hasDecode ? 10 : 5;
  const length = 3 + timeBytes + bytes;
  out.set([0, 0, 1, streamId]);
  // A picture may exceed the 16-bit length; 0 means unbounded.
  const field = length > MAX_LENGTH ? 0 : length;
  out[4] = field >> 8;
  out[5] = field;
  // data_alignment_indicator: the payload starts with a start code or a frame header.
  out[6] = 0x84;
  out[7] = hasDecode ? 0xc0 : 0x80;
  out[8] = timeBytes;
  putTime(out, 9, hasDecode ? 3 : 2, times.presentation);
  if (hasDecode) putTime(out, 14, 1, times.decode);
}

/** 33 bits in three groups, each followed by a marker bit. */
function putTime(out: Uint8Array, at: number, mark: number, ticks: number): void {
  const high = Math.floor(ticks / 2 ** 30) & 7;
  const low = ticks % 2 ** 30;
  out[at] = (mark << 4) | (high << 1) | 1;
  out[at + 1] = low >>> 22;
  out[at + 2] = (low >>> 14) | 1;
  out[at + 3] = low >>> 7;
  out[at + 4] = (low << 1) | 1;
}
