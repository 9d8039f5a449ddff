import {
  type LowLatency,
  type MediaPlaylist,
  type PlaylistPart,
  type PlaylistSegment,
  type SegmentHead,
  writeMediaPlaylist,
} from "@weir/formats/hls";
import type { LiveRendition } from "../live-rendition.ts";
import type { LiveSegment } from "../live-segment.ts";
import type { PartLimits } from "../part-target.ts";

/** Complete segments whose parts are still listed: more than any player's hold-back. */
export const SEGMENTS_WITH_PARTS = 2;
/** Length of the gap listed while no segment is complete. */
const LEADING_GAP_SECONDS = 1;
/** VLC starts once it knows two segments, and never if the only one it knew has left the list. */
const SEGMENTS_AFTER_GAP = 2;

/** The playlist of one live rendition, rendered on demand and cached until the rendition changes. Without viewers it costs nothing. */
export class LivePlaylist {
  readonly rendition: LiveRendition;
  readonly #partLimits: PartLimits;
  readonly #siblings: () => Iterable<LiveRendition>;
  #text = "";
  #version = -1;
  /** A player may know the leading gap and no other segment. */
  #hasListedGapAlone = false;

  constructor(rendition: LiveRendition, partLimits: PartLimits, siblings: () => Iterable<LiveRendition>) {
    this.rendition = rendition;
    this.#partLimits = partLimits;
    this.#siblings = siblings;
  }

  get partLimits(): PartLimits {
    return this.#partLimits;
  }

  /** The current playlist, in ASCII: one text for all viewers. */
  text(): string {
    if (this.#version !== this.rendition.version) {
      this.#version = this.rendition.version;
      this.#text = writeMediaPlaylist(this.#describe());
    }
    return this.#text;
  }

  #describe(): MediaPlaylist {
    const { rendition } = this;
    const { listed, open } = rendition;
    const lowLatency = this.lowLatency((name) => `../${name}/index.m3u8`);
    const withParts = listed.length - SEGMENTS_WITH_PARTS;
    const first = listed[0] ?? open;
    const isEarly = listed.length < (this.#hasListedGapAlone ? SEGMENTS_AFTER_GAP : 1);
    const gap = isEarly && first?.msn === rendition.firstMsn && !rendition.hasEnded ? [leadingGap(first)] : [];
    this.#hasListedGapAlone ||= gap.length > 0;
    return {
      targetDuration: rendition.targetDuration,
      mediaSequence: first ? first.msn - gap.length : this.#firstNumberToCome,
      discontinuitySequence: rendition.discontinuitySequence,
      independentSegments: [...listed, ...(open ? [open] : [])].every(
        (segment) => segment.parts[0]?.isIndependent ?? true,
      ),
      segments: [
        ...gap,
        ...listed.map((segment, index) => ({
          ...headOf(segment, !rendition.hasEnded && index >= withParts),
          uri: segmentName(segment.msn),
          duration: segment.seconds,
          gap: segment.init === null,
        })),
      ],
      ...(open && { openSegment: headOf(open, true) }),
      ...(lowLatency && { lowLatency }),
      ending: rendition.hasEnded ? "ended" : "live",
    };
  }

  /** The parts that come next, here and in the renditions that `addressOf` has a list of; null once the rendition has ended. */
  lowLatency(addressOf: (rendition: string) => string | null, hasHint = true): LowLatency | null {
    const { nextPart, hasEnded } = this.rendition;
    if (hasEnded) return null;
    return {
      partTarget: this.#partLimits.seconds ?? 0.334,
      partHoldBack: this.#partLimits.holdBackSeconds,
      ...(nextPart && hasHint && { preloadHint: partName(nextPart.msn, nextPart.part) }),
      renditionReports: this.#reports(addressOf),
    };
  }

  /** After a restart, players of a rung that has nothing yet know the numbers of before, which may not fall. Its first segment may have a gap before it. */
  get #firstNumberToCome(): number {
    return Math.max(0, (this.rendition.nextPart?.msn ?? 0) - 1);
  }

  #reports(addressOf: (rendition: string) => string | null) {
    const reports = [];
    for (const sibling of this.#siblings()) {
      const newest = sibling === this.rendition ? null : sibling.newestPart;
      const uri = newest && addressOf(sibling.name);
      if (newest && uri) reports.push({ uri, lastMsn: newest.msn, lastPart: newest.part });
    }
    return reports;
  }
}

/** What a playlist says of a segment before its duration. */
export function headOf(segment: LiveSegment, withParts: boolean): SegmentHead {
  const parts: PlaylistPart[] = withParts
    ? segment.parts.map((part, index) => ({
        uri: partName(segment.msn, index),
        duration: part.durationTicks / segment.timescale,
        isIndependent: part.isIndependent,
      }))
    : [];
  const { programDateTimeMs, discontinuity, init } = segment;
  return { programDateTimeMs, discontinuity, map: init?.name ?? "", parts };
}

/**
 * A playlist of parts only would be valid, but hls.js rejects one without a segment (`levelEmptyError`) and gives up after three. A gap before segments delays
 * players: hls.js without low latency tries every rendition in turn to get round it, and GStreamer ends.
 */
function leadingGap({ msn, programDateTimeMs }: LiveSegment): PlaylistSegment {
  return {
    uri: segmentName(msn - 1),
    duration: LEADING_GAP_SECONDS,
    programDateTimeMs: programDateTimeMs - LEADING_GAP_SECONDS * 1000,
    gap: true,
    discontinuity: false,
    map: "",
    parts: [],
  };
}

export function segmentName(msn: number): string {
  return `${msn}.m4s`;
}

export function partName(msn: number, part: number): string {
  return `${msn}.${part}.m4s`;
}
