import { writeFile } from "node:fs/promises";
import { avcParameterSets, lengthPrefixedToAnnexB } from "@weir/formats/codecs";
import { readVideoTag } from "@weir/formats/flv";
import { encodeFlv } from "../../apps/server/test/support/flv-file.ts";

/** The x264 preset and the rungs, the same for Weir and ffmpeg. */
export const LADDER_PRESET = "veryfast";
export const LADDER_PROFILES = [
  { name: "720p", width: 1280, height: 720, bitrate: 3_000_000, fps: 0 },
  { name: "480p", width: 854, height: 480, bitrate: 1_600_000, fps: 0 },
  { name: "360p", width: 640, height: 360, bitrate: 800_000, fps: 0 },
];

const SECONDS = 12;
const TICKS_PER_MS = 90;
const VIDEO_TAG = 9;

/** The pictures of a clip, as a broadcaster sends them and as a file for ffmpeg. */
export interface LadderSource {
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  readonly gopSeconds: number;
  readonly seconds: number;
  /** The body of `avcC`. */
  readonly config: Uint8Array;
  readonly pictures: readonly SourcePicture[];
  /** H.264 byte stream without timestamps. */
  readonly path: string;
}

interface SourcePicture {
  readonly isIndependent: boolean;
  /** PTS and DTS are equal: there are no B-frames. */
  readonly ticks: number;
  readonly data: Uint8Array;
}

/** Encodes 12 seconds of moving pictures, 1920x1080 at 30 frames per second and 8 Mbit/s, with a keyframe every 2 s. */
export async function makeLadderSource(path: string): Promise<LadderSource> {
  const shape = { width: 1920, height: 1080, frameRate: 30, gopSeconds: 2, seconds: SECONDS };
  const tags = await encodeFlv({ ...shape, bitrateBps: 8_000_000, audio: false, inRealTime: false });
  let config: Uint8Array | null = null;
  const pictures: SourcePicture[] = [];
  for (const { typeId, timeMs, payload } of tags) {
    if (typeId !== VIDEO_TAG) continue;
    const { content, isKeyframe, dataOffset, dataEnd } = readVideoTag(payload);
    const data = payload.subarray(dataOffset, dataEnd);
    if (content === "config") config = data;
    if (content === "frame") pictures.push({ isIndependent: isKeyframe, ticks: timeMs * TICKS_PER_MS, data });
  }
  if (!config) throw new Error("the clip has no decoder configuration");
  await writeByteStream(
    path,
    config,
    pictures.map(({ data }) => data),
  );
  return { ...shape, config, pictures, path };
}

/** Writes pictures with 4-byte lengths to a file that ffmpeg reads as `h264`. */
export async function writeByteStream(
  path: string,
  config: Uint8Array,
  pictures: readonly Uint8Array[],
): Promise<void> {
  const { sps, pps } = avcParameterSets(config);
  const sets = [...sps, ...pps].flatMap((set) => [Buffer.of(0, 0, 0, 1), set]);
  await writeFile(path, [...sets, ...pictures.map((picture) => lengthPrefixedToAnnexB(picture))]);
}
