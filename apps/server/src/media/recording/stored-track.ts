import type { StoredTrack } from "../../ports/index.ts";
import type { InitSegment } from "../packaging/live-segment.ts";

/** A track as the index of stored media describes it. */
export function storedTrackOf({ track, timescale }: InitSegment): StoredTrack {
  const { kind, codec, codecString } = track;
  const config = Buffer.from(track.config).toString("base64");
  const shape =
    kind === "video"
      ? { width: track.width, height: track.height, ...(track.frameRate && { frameRate: track.frameRate }) }
      : { sampleRate: track.sampleRate, channels: track.channels };
  return { kind, codec, codecString, config, timescale, ...shape };
}
