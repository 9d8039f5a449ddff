import { type SourcePacket, TICKS_PER_SECOND } from "../packet.ts";

/** The largest burst accepted: the backlog of an encoder that lost its network, or a GOP that it had kept. */
const MAX_AHEAD_MS = 10_000;
/** A throttled sender waits until it may send this much again, so that it is not stopped at every packet. */
const STEP_MS = 250;
/** No encoder's clock drifts more than this. Without it, an encoder that runs slightly fast would be throttled after days. */
const TOLERANCE = 1.01;
/** A longer step is a jump of the source's clock and says nothing about its pace. Two tracks in turn may each step twice as far. */
const LONGEST_STEP_TICKS = 2 * TICKS_PER_SECOND;

interface Bucket {
  lastDts: number | null;
  aheadMs: number;
}

/**
 * How far a source is ahead of real time: a leaky bucket per track that media fills and passing time drains. Media that arrives faster than it
 * is watched must be kept, so this limit bounds the memory of a session.
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

  /** How long the sender has to wait; 0 if it may send. */
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
