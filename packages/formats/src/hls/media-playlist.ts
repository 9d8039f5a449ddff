/** The values of a media playlist. Durations are in seconds, times in milliseconds since the Unix epoch, URIs relative to the playlist. */
export interface MediaPlaylist {
  /** Whole seconds. No segment's duration rounds to more (RFC 8216bis 4.4.3.1). */
  readonly targetDuration: number;
  readonly mediaSequence: number;
  readonly discontinuitySequence: number;
  /** True when every listed segment starts with an independently decodable picture (4.4.2.1). */
  readonly independentSegments: boolean;
  readonly segments: Iterable<PlaylistSegment>;
  /** Parts of the segment that is still being written. */
  readonly openSegment?: OpenSegment;
  readonly lowLatency?: LowLatency;
  /** In a delta update (4.4.5.2): how many segments, the oldest, a client has already. They are left out. */
  readonly skippedSegments?: number;
  /** Each segment is one picture, and its byte range ends with it (4.4.3.6). */
  readonly iFramesOnly?: boolean;
  readonly ending: "live" | "ended" | "vod";
}

export interface LowLatency {
  readonly partTarget: number;
  readonly partHoldBack: number;
  /** Seconds from the end: a client that asks for a delta update gets what is older than that as a number alone. At least six target durations. */
  readonly canSkipUntil?: number;
  readonly preloadHint?: string;
  readonly renditionReports: readonly RenditionReport[];
}

export interface RenditionReport {
  readonly uri: string;
  readonly lastMsn: number;
  readonly lastPart: number;
}

export interface SegmentHead {
  /** Null when the wall-clock time of the recording is unknown. */
  readonly programDateTimeMs: number | null;
  readonly discontinuity: boolean;
  /** URI of the init segment. Every segment has it; the playlist repeats it only where it changes. */
  readonly map: string;
  /** Length of the init segment, where the playlist gives its byte range. */
  readonly mapBytes?: number;
  readonly parts: readonly PlaylistPart[];
}

export interface PlaylistSegment extends SegmentHead {
  readonly uri: string;
  readonly duration: number;
  readonly gap: boolean;
  readonly byteRange?: { readonly offset: number; readonly length: number };
}

export interface OpenSegment extends SegmentHead {}

export interface PlaylistPart {
  readonly uri: string;
  readonly duration: number;
  readonly isIndependent: boolean;
}

/** Of EXT-X-MAP (RFC 8216bis 8). Later versions are for tags that are not written, such as variables. Strict players refuse by number. */
export const PLAYLIST_VERSION = 6;
/** Of EXT-X-SKIP. Who asks for a delta update knows it. */
const DELTA_VERSION = 9;

/** Writes an HLS media playlist (RFC 8216bis 4.4.3, 4.4.4), low-latency if `lowLatency` is given. */
export function writeMediaPlaylist(playlist: MediaPlaylist): string {
  let text = "";
  for (const piece of mediaPlaylistPieces(playlist)) text += piece;
  return text;
}

/** Like `writeMediaPlaylist`, but yields one piece per segment: a playlist of several days is too long to write in one turn. */
export function* mediaPlaylistPieces(playlist: MediaPlaylist): Generator<string, void> {
  yield playlistHeader(playlist);
  let map = "";
  for (const segment of playlist.segments) {
    const text = segmentText(segment, map);
    if (segment.map !== "") map = segment.map;
    yield text;
  }
  yield playlistEnd(playlist, map);
}

/** The lines of one segment. `map` is the init segment that is in force before it. */
export function segmentText(segment: PlaylistSegment, map: string): string {
  let text = head(segment, map);
  if (segment.gap) text += "#EXT-X-GAP\n";
  text += `#EXTINF:${seconds(segment.duration)},\n`;
  if (segment.byteRange) text += `#EXT-X-BYTERANGE:${segment.byteRange.length}@${segment.byteRange.offset}\n`;
  return `${text}${segment.uri}\n`;
}

/** The lines before the segments. */
export function playlistHeader(playlist: Omit<MediaPlaylist, "segments">): string {
  const { lowLatency, skippedSegments = 0 } = playlist;
  const version = skippedSegments > 0 ? DELTA_VERSION : PLAYLIST_VERSION;
  let text = `#EXTM3U\n#EXT-X-VERSION:${version}\n#EXT-X-TARGETDURATION:${playlist.targetDuration}\n`;
  if (lowLatency) {
    const skip = lowLatency.canSkipUntil === undefined ? "" : `,CAN-SKIP-UNTIL=${lowLatency.canSkipUntil}`;
    text += `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=${lowLatency.partHoldBack}${skip}\n`;
    // The tag of control is the same in all lists of a presentation (6.2.4). Those of pictures have no parts.
    if (!playlist.iFramesOnly) text += `#EXT-X-PART-INF:PART-TARGET=${lowLatency.partTarget}\n`;
  }
  text += `#EXT-X-MEDIA-SEQUENCE:${playlist.mediaSequence}\n`;
  if (playlist.discontinuitySequence > 0) text += `#EXT-X-DISCONTINUITY-SEQUENCE:${playlist.discontinuitySequence}\n`;
  if (playlist.ending === "vod") text += "#EXT-X-PLAYLIST-TYPE:VOD\n";
  if (playlist.iFramesOnly) text += "#EXT-X-I-FRAMES-ONLY\n";
  if (playlist.independentSegments) text += "#EXT-X-INDEPENDENT-SEGMENTS\n";
  if (skippedSegments > 0) text += `#EXT-X-SKIP:SKIPPED-SEGMENTS=${skippedSegments}\n`;
  return text;
}

/** The lines after the segments. `map` is the init segment of the last of them. */
export function playlistEnd(
  { openSegment, lowLatency, ending }: Pick<MediaPlaylist, "openSegment" | "lowLatency" | "ending">,
  map: string,
): string {
  let text = openSegment ? head(openSegment, map) : "";
  if (lowLatency?.preloadHint) text += `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${lowLatency.preloadHint}"\n`;
  for (const report of lowLatency?.renditionReports ?? []) {
    text += `#EXT-X-RENDITION-REPORT:URI="${report.uri}",LAST-MSN=${report.lastMsn},LAST-PART=${report.lastPart}\n`;
  }
  if (ending !== "live") text += "#EXT-X-ENDLIST\n";
  // hls.js takes the last segment for the open one where no line follows it, and stops at a discontinuity behind it.
  else if (text === "") text = "# no part is announced\n";
  return text;
}

function head(segment: SegmentHead, map: string): string {
  let text = "";
  if (segment.discontinuity) text += "#EXT-X-DISCONTINUITY\n";
  if (segment.map !== "" && segment.map !== map) {
    const range = segment.mapBytes === undefined ? "" : `,BYTERANGE="${segment.mapBytes}@0"`;
    text += `#EXT-X-MAP:URI="${segment.map}"${range}\n`;
  }
  const { programDateTimeMs } = segment;
  if (programDateTimeMs !== null) text += `#EXT-X-PROGRAM-DATE-TIME:${new Date(programDateTimeMs).toISOString()}\n`;
  for (const part of segment.parts) {
    text += `#EXT-X-PART:DURATION=${seconds(part.duration)},URI="${part.uri}"${part.isIndependent ? ",INDEPENDENT=YES" : ""}\n`;
  }
  return text;
}

/** Five decimals resolve one tick of either timescale, and `toFixed` never writes an exponent. */
function seconds(value: number): string {
  return value.toFixed(5);
}
