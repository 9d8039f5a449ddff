import { avcReorderFrames, describeAvc } from "@weir/formats/codecs";
import type { VideoTrack } from "../../packet.ts";

/**
 * Whether WebRTC viewers need re-encoded video: they support H.264 with 8 bits and 4:2:0, without B-frames. A source that does not declare its
 * reorder depth is assumed to have no B-frames until a keyframe proves otherwise.
 */
export function needsRendition({ codec, config }: VideoTrack): boolean {
  if (codec !== "avc") return true;
  const { chroma, bitDepth } = describeAvc(config);
  return chroma !== "4:2:0" || bitDepth !== 8 || hasBFrames({ codec, config });
}

/** Whether the parameter sets declare B-frames. */
export function hasBFrames({ codec, config }: Pick<VideoTrack, "codec" | "config">): boolean {
  return codec === "avc" && (avcReorderFrames(config) ?? 0) > 0;
}
