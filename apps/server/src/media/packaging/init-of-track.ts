import { createHash } from "node:crypto";
import { initSegment } from "@weir/formats/mp4";
import { TICKS_PER_SECOND, type Track } from "../packet.ts";
import type { InitSegment } from "./live-segment.ts";

/** The init segment of a track, named by the hash of its bytes. */
export function initOfTrack(track: Track): InitSegment {
  const timescale = track.kind === "video" ? TICKS_PER_SECOND : track.sampleRate;
  const bytes = initSegment({ ...track, timescale });
  return { name: initName(bytes), bytes, track, timescale };
}

/** The name of the init segment with these bytes, by which a damaged copy is recognized. */
export function initName(bytes: Uint8Array): string {
  return `init-${createHash("sha256").update(bytes).digest("hex").slice(0, 8)}.mp4`;
}
