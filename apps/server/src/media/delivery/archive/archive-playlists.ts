import { mediaPlaylistPieces, type PlaylistSegment, writeMultivariantPlaylist } from "@weir/formats/hls";
import type { StoredRendition } from "../../../ports/index.ts";

export interface Bitrates {
  readonly peak: number;
  readonly average: number;
}

/** The multivariant playlist of stored media; `addressOf` a rendition is that of its playlist. */
export function archiveMultivariant(
  renditions: Iterable<{ readonly stored: StoredRendition; readonly bitrates: Bitrates }>,
  addressOf: (rendition: string) => string,
): string {
  const video = [];
  let audio = null;
  for (const { stored, bitrates } of renditions) {
    const { track } = stored;
    const uri = addressOf(stored.rendition);
    const { peak, average } = bitrates;
    if (track.kind === "video") {
      const { codecString, width = 0, height = 0, frameRate = null } = track;
      video.push({ uri, bandwidth: peak, averageBandwidth: average, codecString, width, height, frameRate });
    } else audio = { uri, bandwidth: peak, codecString: track.codecString, channels: track.channels ?? 2 };
  }
  return writeMultivariantPlaylist({ video, audio });
}

/** The playlist of one rendition, whole, segment by segment: byte ranges of immutable spans. */
export function playlistPieces(
  rendition: StoredRendition,
  targetDuration: number,
  independentSegments: boolean,
): Iterable<string> {
  return mediaPlaylistPieces({
    targetDuration,
    mediaSequence: rendition.segments[0]?.msn ?? 0,
    discontinuitySequence: 0,
    independentSegments,
    segments: listed(rendition),
    ending: "vod",
  });
}

function* listed({ track, segments }: StoredRendition): Generator<PlaylistSegment, void> {
  let isFirst = true;
  for (const { gap, span, init, durationTicks, programDateTimeMs, discontinuity, offset, length } of segments) {
    yield {
      uri: gap ? "gap.m4s" : span,
      duration: durationTicks / track.timescale,
      // Nobody knows when a customer's file was filmed.
      programDateTimeMs: programDateTimeMs || null,
      discontinuity: discontinuity && !isFirst,
      gap,
      map: init,
      parts: [],
      ...(!gap && { byteRange: { offset, length } }),
    };
    isFirst = false;
  }
}
