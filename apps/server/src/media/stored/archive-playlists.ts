import { rangeOfConfig } from "@weir/formats/codecs";
import { mediaPlaylistPieces, type PlaylistSegment, writeMultivariantPlaylist } from "@weir/formats/hls";
import type { StoredRendition, StoredTrack } from "../../ports/index.ts";

export interface Bitrates {
  readonly peak: number;
  readonly average: number;
}

/** The multivariant playlist of stored media. `addressOf` returns the URL of a rendition's playlist. */
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
      const shape = { codecString, width, height, frameRate, range: rangeOf(track) };
      video.push({ uri, bandwidth: peak, averageBandwidth: average, ...shape });
    } else
      audio = {
        uri,
        bandwidth: peak,
        averageBandwidth: average,
        codecString: track.codecString,
        channels: track.channels ?? 2,
      };
  }
  return writeMultivariantPlaylist({ video, audio });
}

function rangeOf({ codec, config }: StoredTrack) {
  return codec === "aac" || codec === "opus" ? "SDR" : rangeOfConfig(codec, Buffer.from(config, "base64"));
}

/** Where playlists say that a gap is. Players that know `EXT-X-GAP` do not ask for it. */
export const GAP_FILE = "gap.m4s";

export interface ListedRendition {
  readonly stored: StoredRendition;
  readonly targetDuration: number;
  readonly independentSegments: boolean;
  /** Lengths of init segments by name; the playlist lists these as byte ranges. */
  readonly initBytes: ReadonlyMap<string, number>;
}

/** The complete playlist of one rendition, one piece per segment: byte ranges of immutable spans. */
export function playlistPieces(listing: ListedRendition): Iterable<string> {
  const { stored, targetDuration, independentSegments } = listing;
  return mediaPlaylistPieces({
    targetDuration,
    mediaSequence: stored.segments[0]?.msn ?? 0,
    discontinuitySequence: 0,
    independentSegments,
    segments: listed(listing),
    ending: "vod",
  });
}

function* listed({ stored: { track, segments }, initBytes }: ListedRendition): Generator<PlaylistSegment, void> {
  let isFirst = true;
  for (const { gap, span, init, durationTicks, programDateTimeMs, discontinuity, offset, length } of segments) {
    const mapBytes = initBytes.get(init);
    yield {
      uri: gap ? GAP_FILE : span,
      duration: durationTicks / track.timescale,
      // A customer's file has no recording time.
      programDateTimeMs: programDateTimeMs || null,
      discontinuity: discontinuity && !isFirst,
      gap,
      map: init,
      ...(mapBytes !== undefined && { mapBytes }),
      parts: [],
      ...(!gap && { byteRange: { offset, length } }),
    };
    isFirst = false;
  }
}
