import { type SourcePacket, TICKS_PER_SECOND, type Track } from "../packet.ts";

const STEP_TICKS = TICKS_PER_SECOND;
const LAST_TRACK_MS = 500;
const MAX_HELD = 1000;
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/**
 * Finds jumps of the source's clock. A packet within a second of where any track stands belongs to the stretch at hand. One further
 * away begins a new stretch: it is held until the other tracks have jumped as well, 500 ms at most, so that the track that jumps last keeps
 * its packets and all get one offset.
 */
export class SourceClock {
  /** Source time of the newest packet of each track, by track id; undefined where there is no such track. */
  #last: (number | undefined)[] = [];
  #jump: { readonly at: number; readonly held: SourcePacket[]; bytes: number; last: number } | null = null;

  /** Begin a stretch whose tracks stand at these source times. */
  start(positions: ReadonlyMap<Track["id"], number>): void {
    this.#last = [];
    for (const [trackId, position] of positions) this.#last[trackId] = position;
    this.#jump = null;
  }

  /** True when the packet belongs to the stretch at hand; otherwise it is held. */
  accepts(packet: SourcePacket, now: number): boolean {
    const distance = this.#distance(packet);
    const jump = this.#jump;
    if (distance <= STEP_TICKS && (!jump || Math.abs(packet.dts - jump.last) > distance)) {
      this.#last[packet.trackId] = packet.dts;
      return true;
    }
    this.#jump ??= { at: now, held: [], bytes: 0, last: packet.dts };
    this.#jump.last = packet.dts;
    if (this.#jump.held.length < MAX_HELD && this.#jump.bytes < MAX_HELD_BYTES) {
      this.#jump.held.push(packet);
      this.#jump.bytes += packet.data.byteLength;
    }
    return false;
  }

  /** The packets after a jump, once every track has jumped or the wait is over; null otherwise. */
  jumped(now: number): SourcePacket[] | null {
    const jump = this.#jump;
    if (!jump) return null;
    // `every` skips the ids without a track.
    const isWhole = this.#last.every((_, trackId) => jump.held.some((packet) => packet.trackId === trackId));
    return isWhole || now - jump.at >= LAST_TRACK_MS ? jump.held : null;
  }

  #distance(packet: SourcePacket): number {
    let least = Number.POSITIVE_INFINITY;
    for (const last of this.#last) if (last !== undefined) least = Math.min(least, Math.abs(packet.dts - last));
    return least;
  }
}
