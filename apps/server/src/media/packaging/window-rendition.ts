import type { LivePart, SegmentPlace } from "./live-segment.ts";

/** A segment of a live window, as its readers see it. */
export interface WindowSegment extends SegmentPlace {
  readonly parts: readonly LivePart[];
  readonly durationTicks: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly frames: number;
  /** The bytes of all parts, as a sequence of views. Valid while the window or the reader has a share of them. */
  readonly views: readonly Uint8Array[];
  /** Keep the bytes until `release`. */
  retain(): void;
  release(): void;
}

/** MSN and index of a part. */
export interface PartPlace {
  readonly msn: number;
  readonly part: number;
}

/**
 * The live window of one rendition, as its readers see it: the complete segments in its playlist, the open one, and those that left the list a moment
 * ago. `LiveRendition` is one that this process packages. Nothing here is bound to that: a copy of another process's window could be another.
 */
export interface WindowRendition {
  readonly name: string;
  /** In seconds. */
  readonly targetDuration: number;
  readonly listed: readonly WindowSegment[];
  readonly open: WindowSegment | null;
  /** Start of the session's first segment; null before it. */
  readonly firstMsn: number | null;
  readonly hasEnded: boolean;
  /** Bits per second of the largest segment so far; 0 before the first. */
  readonly peakBps: number;
  /** Frames per second; null while unknown, then it never changes. */
  readonly frameRate: number | null;
  /** Null before the first. */
  readonly newestPart: PartPlace | null;
  /** The next part to be published; null if none is certain. */
  readonly nextPart: PartPlace | null;
  segment(msn: number): WindowSegment | undefined;
  /** Call `listener` after every turn with a change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}
