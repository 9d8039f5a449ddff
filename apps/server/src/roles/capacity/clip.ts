import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateClip } from "../../media/transcode/index.ts";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { makeRunFolder } from "../../platform/run-folder.ts";

/** 375 AAC frames at 48 kHz are exactly 8 s, so both tracks can repeat together. */
const CLIP_SECONDS = 8;
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

/** Of the source that is measured, about. */
export const CLIP_BITRATE_BPS = 2_100_000;

/** Encodes the clip: moving 1280x720 pictures at 30 frames per second and 2 Mbit/s, a keyframe every 2 s, and a tone. */
export async function makeClip(bFrames = 0): Promise<Clip> {
  const folder = await makeRunFolder(tmpdir(), "weir-clip-", systemClock.now());
  try {
    const path = join(folder.path, "clip.flv");
    await generateClip({ path, seconds: CLIP_SECONDS, bFrames }, { clock: systemClock, log: silentLog });
    return clipOf(await readFile(path));
  } finally {
    await folder.remove();
  }
}

/** The clip in an FLV file of `makeClip`. */
function clipOf(file: Buffer): Clip {
  const messages = readTags(file).filter(({ timeMs }) => timeMs < CLIP_SECONDS * 1000);
  const bytes = messages.reduce((sum, { payload }) => sum + payload.byteLength, 0);
  return { messages, durationMs: CLIP_SECONDS * 1000, bitrateBps: Math.round((bytes * 8) / CLIP_SECONDS) };
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
