import { fullBox, uint16, uint32, uint64 } from "./box.ts";

/** One segment of a progressive file: the fragments of all tracks that belong to it, next to each other. */
export interface IndexedSegment {
  readonly bytes: number;
  /** In the index's timescale. */
  readonly durationTicks: number;
  /** True when it begins with an IDR picture, so that a player may seek to it. */
  readonly isIndependent: boolean;
}

const MAX_REFERENCES = 0xffff;
// starts_with_SAP, SAP_type 1 (a closed GOP), SAP_delta_time 0.
const STARTS_WITH_IDR = 0x9000_0000;

/**
 * `sidx` (ISO/IEC 14496-12 8.16.3) to stand between a joint init and the segments: with it a player knows duration and seek points of
 * the whole file from its first range request. `trackId` and `timescale` are those of the track that the times count in, video if there is one.
 * Throws `RangeError` above 65 535 segments.
 */
export function segmentIndex(
  trackId: number,
  timescale: number,
  startTicks: number,
  segments: readonly IndexedSegment[],
): Uint8Array {
  if (segments.length > MAX_REFERENCES) {
    throw new RangeError(`a segment index holds ${MAX_REFERENCES} segments, not ${segments.length}`);
  }
  const references = segments.flatMap(({ bytes, durationTicks, isIndependent }) => [
    bytes, // reference_type 0 (media) in the top bit
    durationTicks,
    isIndependent ? STARTS_WITH_IDR : 0,
  ]);
  const firstOffset = 0;
  return fullBox(
    "sidx",
    1,
    0,
    uint32(trackId, timescale),
    uint64(startTicks, firstOffset),
    uint16(0, segments.length),
    uint32(...references),
  );
}
