import type { LiveRendition } from "./live-rendition.ts";
import type { LiveSegment } from "./live-segment.ts";

export interface RenditionSegment {
  readonly rendition: LiveRendition;
  readonly segment: LiveSegment;
}

/** Waits until a segment is closed in every rendition that the timeline had at its cut, then reports it as one, in order. */
export class SegmentLedger {
  readonly #onWhole: (segments: readonly RenditionSegment[]) => void;
  readonly #open = new Map<number, { readonly expected: number; readonly closed: RenditionSegment[] }>();

  constructor(onWhole: (segments: readonly RenditionSegment[]) => void) {
    this.#onWhole = onWhole;
  }

  expect(msn: number, renditions: number): void {
    this.#open.set(msn, { expected: renditions, closed: [] });
  }

  closed(rendition: LiveRendition, segment: LiveSegment): void {
    this.#open.get(segment.msn)?.closed.push({ rendition, segment });
    for (const [msn, { expected, closed }] of this.#open) {
      if (closed.length < expected) return;
      this.#open.delete(msn);
      this.#onWhole(closed);
    }
  }
}
