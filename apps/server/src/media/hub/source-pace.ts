import { type SourcePacket, TICKS_PER_SECOND } from "../packet.ts";

/** The most that may come at once: the backlog of an encoder that lost its network, or a GOP that it had kept. */
const MAX_AHEAD_MS = 10_000;
/** A sender that is held back waits until it may send so much again, so that it is not stopped at every packet. */
const STEP_MS = 250;
/** No encoder's clock is so far off; without it, one that counts a little fast would be held back after days. */
const TOLERANCE = 1.01;
/** A longer step is a jump of the source's clock and says nothing of its pace. Two tracks in turn may each step twice what one may. */
const LONGEST_STEP_TICKS = 2 * TICKS_PER_SECOND;

interface Bucket {
  lastDts: number | null;
  aheadMs: number;
}

/**
 * How far a source is ahead of real time: a bucket for each track that media fills and passing time empties. Media that comes faster than
 * it is watched has to be kept, so the memory of a session is bounded by how far its source may be ahead.
 */
export class SourcePace {
  /** By track id. */
  readonly #buckets: (Bucket | undefined)[] = [];
  #at: number | null = null;

  packet({ trackId, dts }: SourcePacket, now: number): void {
    this.#passTo(now);
    this.#buckets[trackId] ??= { lastDts: null, aheadMs: 0 };
    const bucket = this.#buckets[trackId];
    const step = bucket.lastDts === null ? 0 : dts - bucket.lastDts;
    bucket.lastDts = dts;
    if (Math.abs(step) <= LONGEST_STEP_TICKS)
      bucket.aheadMs = Math.max(0, bucket.aheadMs + (step / TICKS_PER_SECOND) * 1000);
  }

  /** How long the sender has to wait; 0 while it may send. */
  waitMs(now: number): number {
    this.#passTo(now);
    let aheadMs = 0;
    for (const bucket of this.#buckets) if (bucket) aheadMs = Math.max(aheadMs, bucket.aheadMs);
    return aheadMs > MAX_AHEAD_MS ? (aheadMs - MAX_AHEAD_MS + STEP_MS) / TOLERANCE : 0;
  }

  #passTo(now: number): void {
    const passedMs = (now - (this.#at ?? now)) * TOLERANCE;
    this.#at = now;
    if (passedMs === 0) return;
    for (const bucket of this.#buckets) if (bucket) bucket.aheadMs = Math.max(0, bucket.aheadMs - passedMs);
  }
}
