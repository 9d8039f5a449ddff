import { avcReorderFrames, describeAvc } from "@weir/formats/codecs";
import type { VideoTrack } from "../../packet.ts";

/**
 * Whether WebRTC viewers need other pictures than the source's: they take H.264 of 8 bits and 4:2:0, and show pictures in the order in which they come.
 * A source that does not say how many pictures it holds back is taken at its word until its first keyframe is late.
 */
export function needsRendition({ codec, config }: VideoTrack): boolean {
  if (codec !== "avc") return true;
  const { chroma, bitDepth } = describeAvc(config);
  return chroma !== "4:2:0" || bitDepth !== 8 || hasBFrames({ codec, config });
}

/** Whether its parameter sets say that pictures are shown in another order than they come. */
export function hasBFrames({ codec, config }: Pick<VideoTrack, "codec" | "config">): boolean {
  return codec === "avc" && (avcReorderFrames(config) ?? 0) > 0;
}
