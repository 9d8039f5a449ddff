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
    const listed = {
      uri,
      bandwidth: bitrates.peak,
      averageBandwidth: bitrates.average,
      codecString: track.codecString,
    };
    if (track.kind === "video") {
      const { width = 0, height = 0, frameRate = null } = track;
      video.push({ ...listed, width, height, frameRate, range: rangeOf(track) });
    } else audio = { ...listed, channels: track.channels ?? 2 };
  }
  return writeMultivariantPlaylist({ video, audio });
}

function rangeOf({ codec, config }: StoredTrack) {
  return codec === "aac" || codec === "opus" ? "SDR" : rangeOfConfig(codec, Buffer.from(config, "base64"));
}

/** Where playlists say that a gap is. Players that know `EXT-X-GAP` do not ask for it. */
export const GAP_FILE = "gap.m4s";

export interface PlaylistSource {
  readonly stored: StoredRendition;
  readonly targetDuration: number;
  readonly independentSegments: boolean;
  /** Lengths of init segments by name; the playlist lists these as byte ranges. */
  readonly initBytes: ReadonlyMap<string, number>;
}

/** The complete playlist of one rendition, one piece per segment: byte ranges of immutable spans. */
export function playlistPieces(listing: PlaylistSource): Iterable<string> {
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

function* listed({ stored: { track, segments }, initBytes }: PlaylistSource): Generator<PlaylistSegment, void> {
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
