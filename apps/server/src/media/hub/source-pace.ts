import { type SourcePacket, TICKS_PER_SECOND } from "../packet.ts";

/** What may come at once: the backlog of an encoder that lost its network, or a GOP that it had kept. */
const MAX_AHEAD_MS = 10_000;
/** A sender that is held back waits until it may send so much again, so that it is not stopped at every packet. */
const STEP_MS = 250;
/** No encoder's clock is so far off; without it, one that counts a little fast would be held back after days. */
const TOLERANCE = 1.01;
/** A longer step is a jump of the source's clock and says nothing of its pace. Two tracks in turn may each step twice what one may. */
const LONGEST_STEP_TICKS = 2 * TICKS_PER_SECOND;

interface Track {
  lastDts: number | null;
  aheadMs: number;
}

/**
 * How far a source is ahead of real time: a bucket for each track that media fills and passing time empties. Media that comes faster than
 * it is watched has to be kept, so the memory of a session is bounded by how far its source may be ahead.
 */
export class SourcePace {
  readonly #tracks: Record<SourcePacket["kind"], Track> = { video: newTrack(), audio: newTrack() };
  #at: number | null = null;

  packet({ kind, dts }: SourcePacket, now: number): void {
    this.#passTo(now);
    const track = this.#tracks[kind];
    const step = track.lastDts === null ? 0 : dts - track.lastDts;
    track.lastDts = dts;
    if (Math.abs(step) <= LONGEST_STEP_TICKS)
      track.aheadMs = Math.max(0, track.aheadMs + (step / TICKS_PER_SECOND) * 1000);
  }

  /** How long the sender has to wait; 0 while it may send. */
  waitMs(now: number): number {
    this.#passTo(now);
    const aheadMs = Math.max(this.#tracks.video.aheadMs, this.#tracks.audio.aheadMs);
    return aheadMs > MAX_AHEAD_MS ? (aheadMs - MAX_AHEAD_MS + STEP_MS) / TOLERANCE : 0;
  }

  #passTo(now: number): void {
    const passedMs = (now - (this.#at ?? now)) * TOLERANCE;
    this.#at = now;
    if (passedMs === 0) return;
    for (const track of [this.#tracks.video, this.#tracks.audio]) track.aheadMs = Math.max(0, track.aheadMs - passedMs);
  }
}

function newTrack(): Track {
  return { lastDts: null, aheadMs: 0 };
}
