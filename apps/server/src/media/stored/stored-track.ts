import { type InitTrack, initSegment } from "@weir/formats/mp4";
import type { StoredTrack } from "../../ports/index.ts";
import { initName } from "../packaging/init-of-track.ts";
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

/** The track of an init segment of stored media. */
export function initTrackOf(track: StoredTrack): InitTrack {
  const config = Buffer.from(track.config, "base64");
  const { codec, timescale } = track;
  if (codec === "aac" || codec === "opus")
    return {
      kind: "audio",
      codec,
      config,
      timescale,
      sampleRate: track.sampleRate ?? timescale,
      channels: track.channels ?? 2,
    };
  return { kind: "video", codec, config, timescale, width: track.width ?? 0, height: track.height ?? 0 };
}

/** The bytes of the init segment with this name, if it is the one of a stored track; else null. */
export function initOfStoredTrack(track: StoredTrack, name: string): Uint8Array | null {
  const bytes = initSegment(initTrackOf(track));
  return initName(bytes) === name ? bytes : null;
}
