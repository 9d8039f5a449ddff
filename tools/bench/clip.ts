import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPublisher } from "../../apps/server/test/support/publisher.ts";

/** 375 AAC frames at 48 kHz are exactly 8 s, so both tracks can repeat together. */
const SECONDS = 8;
const TAG_HEADER = 11;
const FILE_HEADER = 9;
const TAG_SIZE = 4;
const DATA_TAG = 18;

/** One RTMP message of the clip. `isSetup` messages describe the tracks and are sent once. */
interface ClipMessage {
  readonly typeId: number;
  readonly timeMs: number;
  readonly isSetup: boolean;
  readonly payload: Uint8Array;
}

export interface Clip {
  readonly messages: readonly ClipMessage[];
  readonly durationMs: number;
  readonly bitrateBps: number;
}

/** Encodes the clip: moving 1280x720 pictures at 30 frames per second, a keyframe every 2 s, and a tone. Takes 8 s. */
export async function makeClip(bFrames = 0): Promise<Clip> {
  const folder = await mkdtemp(join(tmpdir(), "weir-bench-clip-"));
  try {
    const url = join(folder, "clip.flv");
    const size = { width: 1280, height: 720, bitrateBps: 2_000_000 };
    const encoder = await startPublisher({ url, seconds: SECONDS, bFrames, ...size });
    const failure = await encoder.ended;
    if (failure) throw new Error(`encoding the clip failed: ${failure}`);
    const messages = readTags(await readFile(url)).filter(({ timeMs }) => timeMs < SECONDS * 1000);
    const bytes = messages.reduce((sum, { payload }) => sum + payload.byteLength, 0);
    return { messages, durationMs: SECONDS * 1000, bitrateBps: Math.round((bytes * 8) / SECONDS) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads the tags of an FLV file (Adobe Flash Video File Format 10.1, annex E.4). Their bodies are RTMP messages. */
function readTags(file: Buffer): ClipMessage[] {
  const messages: ClipMessage[] = [];
  for (let at = FILE_HEADER + TAG_SIZE; at + TAG_HEADER <= file.byteLength; ) {
    const typeId = file.readUInt8(at);
    const length = file.readUIntBE(at + 1, 3);
    const timeMs = file.readUIntBE(at + 4, 3) + file.readUInt8(at + 7) * 2 ** 24;
    const payload = file.subarray(at + TAG_HEADER, at + TAG_HEADER + length);
    messages.push({ typeId, timeMs, isSetup: typeId === DATA_TAG || payload[1] === 0, payload });
    at += TAG_HEADER + length + TAG_SIZE;
  }
  return messages;
}
