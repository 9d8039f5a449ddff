import { concat, fullBox, uint16, uint32, uint64 } from "./box.ts";

/** One track of a progressive file in which each segment has fragments of all tracks. */
export interface IndexedTrack {
  readonly trackId: number;
  readonly timescale: number;
  /** Start time of the track in each segment, in ticks of its timescale. */
  readonly starts: readonly number[];
  readonly endTicks: number;
  /** True if every segment starts with a random access point of this track. */
  readonly isIndependent: boolean;
}

/** `sidx` has a 16-bit reference count. */
const MAX_REFERENCES = 0xffff;
const REFERENCE = 12;
// starts_with_SAP, SAP_type 1 (a closed GOP), SAP_delta_time 0.
const STARTS_WITH_IDR = 0x9000_0000;

/**
 * Writes one `sidx` per track (ISO/IEC 14496-12 8.16.3), to be put between a joint init segment and the media. A player then learns the duration and
 * all seek points with its first range request. Every track has its own index because some players read only the index of the track they look for.
 * Above 65,535 segments each reference covers several.
 */
export function segmentIndexes(tracks: readonly IndexedTrack[], segmentBytes: readonly number[]): Uint8Array {
  const perReference = Math.max(1, Math.ceil(segmentBytes.length / MAX_REFERENCES));
  let firstOffset = 0;
  const boxes: Uint8Array[] = [];
  // The last index is next to the media. The offset of each earlier one skips the later ones.
  for (const track of tracks.toReversed()) {
    const box = segmentIndex(track, segmentBytes, perReference, firstOffset);
    boxes.unshift(box);
    firstOffset += box.byteLength;
  }
  return concat(boxes);
}

function segmentIndex(
  { trackId, timescale, starts, endTicks, isIndependent }: IndexedTrack,
  segmentBytes: readonly number[],
  perReference: number,
  firstOffset: number,
): Uint8Array {
  const count = Math.ceil(segmentBytes.length / perReference);
  const references = new Uint8Array(count * REFERENCE);
  const view = new DataView(references.buffer);
  for (let n = 0; n < count; n++) {
    const from = n * perReference;
    const to = Math.min(from + perReference, segmentBytes.length);
    let bytes = 0;
    for (let at = from; at < to; at++) bytes += segmentBytes[at] ?? 0;
    view.setUint32(n * REFERENCE, bytes); // reference_type 0 (media) in the top bit
    view.setUint32(n * REFERENCE + 4, (starts[to] ?? endTicks) - (starts[from] ?? endTicks));
    view.setUint32(n * REFERENCE + 8, isIndependent ? STARTS_WITH_IDR : 0);
  }
  return fullBox(
    "sidx",
    1,
    0,
    uint32(trackId, timescale),
    uint64(starts[0] ?? 0, firstOffset),
    uint16(0, count),
    references,
  );
}
