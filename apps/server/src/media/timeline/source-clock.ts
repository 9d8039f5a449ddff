import { type SourcePacket, TICKS_PER_SECOND, type Track } from "../packet.ts";

const STEP_TICKS = TICKS_PER_SECOND;
const LAST_TRACK_MS = 500;
const MAX_HELD = 1000;
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/**
 * Detects jumps of the source's clock. A packet within one second of any track's newest packet belongs to the current stretch. A packet further away
 * starts a new stretch: it is held until the other tracks have jumped too, at most 500 ms, so that the last track to jump keeps its packets and all
 * tracks get the same offset.
 */
export class SourceClock {
  /** Source time of each track's newest packet, by track id; undefined for ids without a track. */
  #last: (number | undefined)[] = [];
  #jump: { readonly at: number; readonly held: SourcePacket[]; bytes: number; last: number } | null = null;

  /** Starts a stretch with the tracks at these source times. */
  start(positions: ReadonlyMap<Track["id"], number>): void {
    this.#last = [];
    for (const [trackId, position] of positions) this.#last[trackId] = position;
    this.#jump = null;
  }

  /** True if the packet belongs to the current stretch. Otherwise the packet is held. */
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

  /** The packets after a jump, once every track has jumped or 500 ms have passed; null until then. */
  jumped(now: number): SourcePacket[] | null {
    const jump = this.#jump;
    if (!jump) return null;
    // `every` skips ids without a track.
    const isWhole = this.#last.every((_, trackId) => jump.held.some((packet) => packet.trackId === trackId));
    return isWhole || now - jump.at >= LAST_TRACK_MS ? jump.held : null;
  }

  #distance(packet: SourcePacket): number {
    let least = Number.POSITIVE_INFINITY;
    for (const last of this.#last) if (last !== undefined) least = Math.min(least, Math.abs(packet.dts - last));
    return least;
  }
}
