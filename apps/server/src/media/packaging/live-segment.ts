import type { Track } from "../packet.ts";

/** The bytes a decoder needs first, under a name made from their hash, so that one name never means two things. */
export interface InitSegment {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly track: Track;
  /** Ticks per second of the samples that follow it. */
  readonly timescale: number;
}

export interface LivePart {
  readonly bytes: Uint8Array;
  readonly durationTicks: number;
  readonly isIndependent: boolean;
}

/** A segment of one rendition, in memory. Its bytes are the bytes of its parts, one after the other. */
export interface LiveSegment {
  readonly msn: number;
  /** Ticks per second of start and durations; may differ from the segment before, where the source changed. */
  readonly timescale: number;
  readonly startTicks: number;
  readonly programDateTimeMs: number;
  readonly discontinuity: boolean;
  /** Null for a gap: the rendition has no bytes for this MSN. */
  readonly init: InitSegment | null;
  readonly parts: LivePart[];
  durationTicks: number;
  bytes: number;
}
