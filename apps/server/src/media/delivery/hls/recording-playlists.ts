import { writeMediaPlaylist, writeMultivariantPlaylist } from "@weir/formats/hls";
import type { MediaIndex, StoredRendition } from "../../../ports/index.ts";

/** The multivariant playlist of a recording; `addressOf` a rendition is that of its playlist. */
export function recordingMultivariant(index: MediaIndex, addressOf: (rendition: string) => string): string {
  const video = [];
  let audio = null;
  for (const rendition of index.renditions) {
    const { track } = rendition;
    const uri = addressOf(rendition.rendition);
    const { peak, average } = bitrates(rendition);
    if (track.kind === "video") {
      const { codecString, width = 0, height = 0 } = track;
      video.push({ uri, bandwidth: peak, averageBandwidth: average, codecString, width, height, frameRate: null });
    } else audio = { uri, bandwidth: peak, codecString: track.codecString, channels: track.channels ?? 2 };
  }
  return writeMultivariantPlaylist({ video, audio });
}

/** One rendition of a recording, whole: byte ranges of immutable spans. */
export function recordingPlaylist({ track, segments }: StoredRendition): string {
  const longest = Math.max(1, ...segments.map(({ durationTicks }) => Math.round(durationTicks / track.timescale)));
  return writeMediaPlaylist({
    targetDuration: longest,
    mediaSequence: segments[0]?.msn ?? 0,
    discontinuitySequence: 0,
    independentSegments: false,
    segments: segments.map((segment, index) => ({
      uri: segment.gap ? "gap.m4s" : segment.span,
      duration: segment.durationTicks / track.timescale,
      programDateTimeMs: segment.programDateTimeMs,
      discontinuity: segment.discontinuity && index > 0,
      gap: segment.gap,
      map: segment.init,
      parts: [],
      ...(!segment.gap && { byteRange: { offset: segment.offset, length: segment.length } }),
    })),
    ending: "vod",
  });
}

function bitrates({ track, segments }: StoredRendition): { peak: number; average: number } {
  let bits = 0;
  let seconds = 0;
  let peak = 1;
  for (const { gap, length, durationTicks } of segments) {
    if (gap || durationTicks === 0) continue;
    bits += length * 8;
    seconds += durationTicks / track.timescale;
    peak = Math.max(peak, (length * 8 * track.timescale) / durationTicks);
  }
  return { peak: Math.ceil(peak), average: Math.ceil(bits / Math.max(seconds, 0.001)) };
}
