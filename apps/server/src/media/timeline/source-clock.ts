import { type SourcePacket, TICKS_PER_SECOND } from "../packet.ts";
import type { Opening } from "./stretch-opening.ts";

const STEP_TICKS = TICKS_PER_SECOND;
const LAST_TRACK_MS = 500;
const MAX_HELD = 1000;
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/**
 * Detects jumps of the source's clock. A packet within one second of any track's newest packet belongs to the current stretch. A packet further away
 * starts a new stretch: it is held until the other tracks have jumped too, at most 500 ms, so that the last track to jump keeps its packets and all
 * tracks get the same offset. Each track counts from its own start of the stretch: clocks of tracks may be unrelated, and then say nothing of each other.
 */
export class SourceClock {
  /** Time of each track's newest packet since the start, by track id; undefined for ids without a track. */
  #last: (number | undefined)[] = [];
  #starts: Pick<Opening, "bases" | "base"> = { bases: new Map(), base: 0 };
  #jump: { readonly at: number; readonly held: SourcePacket[]; bytes: number; last: number } | null = null;

  /** Starts a stretch with the tracks at these source times. */
  start(starts: Pick<Opening, "bases" | "base">): void {
    this.#last = [];
    this.#starts = starts;
    for (const trackId of starts.bases.keys()) this.#last[trackId] = 0;
    this.#jump = null;
  }

  /** True if the packet belongs to the current stretch. Otherwise the packet is held. */
  accepts(packet: SourcePacket, now: number): boolean {
    const { bases, base } = this.#starts;
    const position = packet.dts - (bases.get(packet.trackId) ?? base);
    const distance = this.#distance(position);
    const jump = this.#jump;
    if (distance <= STEP_TICKS && (!jump || Math.abs(position - jump.last) > distance)) {
      this.#last[packet.trackId] = position;
      return true;
    }
    this.#jump ??= { at: now, held: [], bytes: 0, last: position };
    this.#jump.last = position;
    if (this.#jump.held.length < MAX_HELD && this.#jump.bytes < MAX_HELD_BYTES) {
      this.#jump.held.push(packet);
      this.#jump.bytes += packet.data.byteLength;
    }
    return false;
  }

  /** The packets after a jump, once every track has jumped or 500 ms have passed; null until then. */
  jumped(now: number): SourcePacket[] | null {
    const jump = this.#jump;
    if (!jump) return null;
    // `every` skips ids without a track.
    const isWhole = this.#last.every((_, trackId) => jump.held.some((packet) => packet.trackId === trackId));
    return isWhole || now - jump.at >= LAST_TRACK_MS ? jump.held : null;
  }

  #distance(position: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (const last of this.#last) if (last !== undefined) least = Math.min(least, Math.abs(position - last));
    return least;
  }
}
