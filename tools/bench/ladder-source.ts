import { writeFile } from "node:fs/promises";
import { avcParameterSets, lengthPrefixedToAnnexB } from "@weir/formats/codecs";
import { readVideoTag } from "@weir/formats/flv";
import { encodeFlv } from "../../apps/server/test/support/flv-file.ts";

const SECONDS = 12;
const TICKS_PER_MS = 90;
const VIDEO_TAG = 9;

/** The pictures of a clip as a broadcaster sends them, and the same in a file for ffmpeg. */
export interface LadderSource {
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  readonly gopSeconds: number;
  readonly seconds: number;
  /** The body of `avcC`. */
  readonly config: Uint8Array;
  readonly pictures: readonly SourcePicture[];
  /** H.264 as a byte stream, which carries no times. */
  readonly path: string;
}

interface SourcePicture {
  readonly isIndependent: boolean;
  /** PTS and DTS: there are no B-frames. */
  readonly ticks: number;
  readonly data: Uint8Array;
}

/** 12 seconds of a moving picture, 1920x1080 at 30 frames a second and 8 Mbit/s, with a keyframe every 2 s. */
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

/** Pictures with 4-byte lengths, to a file that ffmpeg reads as `h264`. */
export async function writeByteStream(
  path: string,
  config: Uint8Array,
  pictures: readonly Uint8Array[],
): Promise<void> {
  const { sps, pps } = avcParameterSets(config);
  const sets = [...sps, ...pps].flatMap((set) => [Buffer.of(0, 0, 0, 1), set]);
  await writeFile(path, [...sets, ...pictures.map((picture) => lengthPrefixedToAnnexB(picture))]);
}
