import { crc32 } from "./ts-crc.ts";
import { PACKET_BODY_BYTES } from "./ts-pid.ts";

export const PAT_PID = 0;
export const PMT_PID = 0x1000;
export const VIDEO_PID = 0x100;
export const AUDIO_PID = 0x101;

const PROGRAM = 1;
const PAT_TABLE = 0;
const PMT_TABLE = 2;
// ISO/IEC 13818-1 table 2-34. AAC is carried in ADTS.
const STREAM_TYPES = { avc: 0x1b, hevc: 0x24, aac: 0x0f } as const;

/** One elementary stream of the program. */
export interface TableEntry {
  readonly pid: number;
  readonly codec: keyof typeof STREAM_TYPES;
}

/** The program association table: one program, whose map is on `PMT_PID` (ISO/IEC 13818-1 2.4.4.3). */
export const PAT = section(PAT_TABLE, 0, [0, PROGRAM, 0xe0 | (PMT_PID >> 8), PMT_PID & 0xff]);

/** The program map table: the elementary streams and the PID of the clock reference (2.4.4.8). */
export function programMap(version: number, clockPid: number, entries: readonly TableEntry[]): Uint8Array {
  const streams = entries.flatMap(({ pid, codec }) => [STREAM_TYPES[codec], 0xe0 | (pid >> 8), pid & 0xff, 0xf0, 0]);
  return section(PMT_TABLE, version, [0xe0 | (clockPid >> 8), clockPid & 0xff, 0xf0, 0, ...streams]);
}

/**
 * A section with its pointer field and CRC, padded to the payload of one packet. `PROGRAM` is the transport stream id in the PAT and the program
 * number in the PMT.
 */
function section(tableId: number, version: number, body: readonly number[]): Uint8Array {
  // Five header bytes after the length field, and four bytes of CRC.
  const length = 5 + body.length + 4;
  const bytes = [tableId, 0xb0 | (length >> 8), length & 0xff, 0, PROGRAM, 0xc1 | (version << 1), 0, 0, ...body];
  const crc = crc32(bytes);
  const payload = new Uint8Array(PACKET_BODY_BYTES).fill(0xff);
  payload.set([0, ...bytes, crc >>> 24, crc >>> 16, crc >>> 8, crc]);
  return payload;
}
