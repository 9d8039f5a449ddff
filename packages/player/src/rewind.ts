/** How far viewers can go back in a live stream. */
export interface RewindWindow {
  /** The first moment, as the playlist was loaded: ms since the epoch. */
  readonly sinceMs: number;
  /** Seconds behind the live edge. */
  readonly seconds: number;
}

/** Where playback is between the first moment and the live edge; all in ms since the epoch. */
export interface LiveTimeline {
  readonly sinceMs: number;
  readonly atMs: number;
  readonly edgeMs: number;
}

/** A segment as hls.js lists it. */
export interface DatedSegment {
  /** Seconds in the video's time. */
  readonly start: number;
  readonly duration: number;
  readonly programDateTime: number | null;
}

/** Closer to the live edge than this is live. */
export const LIVE_WITHIN_MS = 3000;
/** In the multivariant playlist of a stream that viewers can go back in (RFC 8216bis 4.4.6.4). */
const DATA_ID = "weir.dvr";
const VALUE = /^since=(\d+),seconds=(\d+)$/;

/** What the session data of a multivariant playlist says of going back; null where viewers cannot. */
export function rewindWindowOf(
  sessionData: Readonly<Record<string, { readonly VALUE?: string }>> | null | undefined,
): RewindWindow | null {
  const [, since, seconds] = VALUE.exec(sessionData?.[DATA_ID]?.VALUE ?? "") ?? [];
  return since === undefined ? null : { sinceMs: Number(since), seconds: Number(seconds) };
}

/** The same from the text of the playlist. */
export function rewindWindowIn(playlist: string): RewindWindow | null {
  const [, value] = new RegExp(`^#EXT-X-SESSION-DATA:DATA-ID="${DATA_ID}",VALUE="([^"]*)"`, "m").exec(playlist) ?? [];
  return value === undefined ? null : rewindWindowOf({ [DATA_ID]: { VALUE: value } });
}

/** The first moment that viewers can go back to while the live edge is there. */
export const firstMoment = ({ sinceMs, seconds }: RewindWindow, edgeMs: number): number =>
  Math.min(edgeMs, Math.max(sinceMs, edgeMs - seconds * 1000));

/** The address by which viewers go back, with the credential of the live one. */
export const rewindAddress = (src: string): string => `${src}${src.includes("?") ? "&" : "?"}dvr=1`;

/** The position of a moment in the video's time, in seconds. A moment that has no picture is moved to the next that has. */
export function positionOf(segments: readonly DatedSegment[], dateMs: number): number | null {
  const [first] = segments;
  if (!first) return null;
  const segment = segments.findLast(({ programDateTime }) => programDateTime !== null && programDateTime <= dateMs);
  if (!segment) return first.start;
  const into = (dateMs - (segment.programDateTime ?? dateMs)) / 1000;
  return segment.start + Math.min(into, segment.duration);
}

/** The moment of a position in the video's time; null outside the segments. */
export function dateOf(segments: readonly DatedSegment[], position: number): number | null {
  const segment = segments.findLast(({ start }) => start <= position);
  if (!segment || segment.programDateTime === null) return null;
  return segment.programDateTime + (position - segment.start) * 1000;
}
