import { rangeOfConfig } from "@weir/formats/codecs";
import { mediaPlaylistPieces, type PlaylistSegment, writeMultivariantPlaylist } from "@weir/formats/hls";
import type { StoredRendition, StoredSegment, StoredTrack } from "../../ports/index.ts";
import { withMissing } from "./missing-segments.ts";
import { ToldTimes } from "./told-times.ts";

export interface Bitrates {
  readonly peak: number;
  readonly average: number;
}

/** The multivariant playlist of stored media. `addressOf` returns the URL of a rendition's playlist, `iFrameAddressOf` of that of its keyframes. */
export function archiveMultivariant(
  renditions: Iterable<{
    readonly stored: StoredRendition;
    readonly bitrates: Bitrates;
    readonly iFrameBitrates: Bitrates | null;
  }>,
  addressOf: (rendition: string) => string,
  iFrameAddressOf?: (rendition: string) => string,
): string {
  const video = [];
  let audio = null;
  for (const { stored, bitrates, iFrameBitrates } of renditions) {
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
      const iFrames = iFrameAddressOf &&
        iFrameBitrates && {
          uri: iFrameAddressOf(stored.rendition),
          ...{ bandwidth: iFrameBitrates.peak, averageBandwidth: iFrameBitrates.average },
        };
      video.push({ ...listed, width, height, frameRate, range: rangeOf(track), ...(iFrames && { iFrames }) });
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
    discontinuitySequence: breaksBefore(stored.segments[0]),
    independentSegments,
    segments: listed(listing),
    ending: "vod",
  });
}

/** Keyframes that may be shown alone, each until the next one. */
export function* iFramesOf({
  track,
  segments,
}: StoredRendition): Generator<StoredSegment & { readonly shownTicks: number }> {
  let shown: StoredSegment | null = null;
  let shownTicks = 0;
  let isBroken = false;
  for (const segment of withMissing(segments, track.timescale)) {
    isBroken ||= segment.discontinuity;
    if (track.kind === "video" && !segment.gap && segment.keyframeBytes !== undefined) {
      if (shown) yield { ...shown, shownTicks };
      shown = { ...segment, discontinuity: isBroken };
      isBroken = false;
      shownTicks = 0;
    }
    shownTicks += segment.durationTicks;
  }
  if (shown) yield { ...shown, shownTicks };
}

/** The playlist of a rendition's keyframes alone: the beginnings of its segments. */
export function iFramePieces({ stored, initBytes }: PlaylistSource): Iterable<string> {
  const { track } = stored;
  const seconds = (ticks: number): number => ticks / track.timescale;
  const frames = [...iFramesOf(stored)];
  const times = new ToldTimes();
  return mediaPlaylistPieces({
    targetDuration: frames.reduce((most, { shownTicks }) => Math.max(most, Math.round(seconds(shownTicks))), 1),
    ...{ mediaSequence: 0, discontinuitySequence: breaksBefore(frames[0]) },
    ...{ independentSegments: true, iFramesOnly: true, ending: "vod" },
    segments: frames.map(
      ({ span, init, programDateTimeMs, discontinuity, offset, keyframeBytes = 0, shownTicks }, n) => {
        const mapBytes = initBytes.get(init);
        return {
          ...{ uri: span, duration: seconds(shownTicks), gap: false, map: init, parts: [] },
          ...{
            programDateTimeMs: times.next(programDateTimeMs, seconds(shownTicks), discontinuity),
            discontinuity: discontinuity && n > 0,
          },
          ...(mapBytes !== undefined && { mapBytes }),
          byteRange: { offset, length: keyframeBytes },
        };
      },
    ),
  });
}

/** What begins a list has no tag of its discontinuity. It is counted all the same: where sound came first, its list has the tag, and players compare the numbers. */
const breaksBefore = (first: StoredSegment | undefined): number => Number(first?.discontinuity ?? false);

function* listed({ stored: { track, segments }, initBytes }: PlaylistSource): Generator<PlaylistSegment, void> {
  const times = new ToldTimes();
  let isFirst = true;
  for (const { gap, span, init, durationTicks, programDateTimeMs, discontinuity, offset, length } of withMissing(
    segments,
    track.timescale,
  )) {
    const mapBytes = initBytes.get(init);
    yield {
      uri: gap ? GAP_FILE : span,
      duration: durationTicks / track.timescale,
      // A customer's file has no recording time.
      programDateTimeMs: times.next(programDateTimeMs, durationTicks / track.timescale, discontinuity),
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
