import type { SegmentTranscoded } from "../../ports/index.ts";

/** The outcome of one attempt at a segment; `error` is a sentence, or null. */
export interface SegmentAttempt {
  readonly child: number;
  readonly latencyMs: number;
  readonly error: string | null;
}

interface OpenSegment {
  /** When its last source packet went to the child: wall clock, and monotonic. */
  sentAt: number;
  sentMonotonic: number;
  sourceBytes: number;
  /** Indices of the rungs that are to have it. */
  readonly rungs: ReadonlySet<number>;
  readonly failed: SegmentAttempt[];
}

export interface FinishedSegment {
  readonly startTime: number;
  readonly latencyMs: number;
  readonly sourceBytes: number;
  readonly attempts: readonly SegmentAttempt[];
  /** The reason why it is not in every rung; null if it is. */
  readonly missed: SegmentTranscoded["missed"];
}

const MAX_OPEN = 8;

/** Tracks the segments that a transcoder works on: when each was handed over completely, and which attempts failed. */
export class SegmentAttempts {
  readonly #open = new Map<number, OpenSegment>();
  #current: OpenSegment | null = null;

  begin(msn: number, rungs: ReadonlySet<number>): void {
    this.#current = { sentAt: 0, sentMonotonic: 0, sourceBytes: 0, rungs, failed: [] };
    this.#open.set(msn, this.#current);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
  }

  /** Indices of the rungs that were to have the segment. */
  rungsOf(msn: number): ReadonlySet<number> | undefined {
    return this.#open.get(msn)?.rungs;
  }

  sent(bytes: number, now: number, monotonic: number): void {
    if (!this.#current) return;
    this.#current.sentAt = now;
    this.#current.sentMonotonic = monotonic;
    this.#current.sourceBytes += bytes;
  }

  /** The child died, or gave up: every incomplete segment has lost an attempt. Returns the largest number lost. */
  failed(child: number, error: string, monotonic: number): number {
    let most = 0;
    for (const { failed, sentMonotonic } of this.#open.values()) {
      failed.push({ child, latencyMs: Math.max(0, Math.round(monotonic - sentMonotonic)), error });
      most = Math.max(most, failed.length);
    }
    return most;
  }

  /** The segment is complete in every rung, or listed as a gap. Null for a segment that was never begun. */
  finish(msn: number, child: number, error: string | null, monotonic: number): FinishedSegment | null {
    const segment = this.#open.get(msn);
    if (!segment) return null;
    this.#open.delete(msn);
    const latencyMs = segment.sentMonotonic === 0 ? 0 : Math.max(0, Math.round(monotonic - segment.sentMonotonic));
    const last = { child, latencyMs, error };
    return {
      startTime: segment.sentAt,
      latencyMs,
      sourceBytes: segment.sourceBytes,
      // A failed attempt without a successor is itself the outcome.
      attempts: error !== null && segment.failed.length > 0 ? segment.failed : [...segment.failed, last],
      missed: error === null ? null : segment.failed.length > 0 ? "died" : "late",
    };
  }
}
