const MAX_STANDSTILL_MS = 5000;
/** Fewer prove nothing. */
const MIN_PACKETS = 50;
/** No source sends a thousand frames a second; a slow network delays frames, but leaves their times as they are. */
const MIN_TICKS_A_PACKET = 90;

/** Notices a source whose clock stands still: packets come for 5 s, and their times move by less than a millisecond a packet. */
export class Standstill {
  #sinceMs = 0;
  #fromTicks = 0;
  #packets = 0;

  /** The clock stands at `ticks` and may be trusted so far. */
  start(ticks: number, now: number): void {
    this.#fromTicks = ticks;
    this.#sinceMs = now;
    this.#packets = 0;
  }

  /** A packet came and the clock stands at `ticks`; true when it has stood still for too long. */
  packet(ticks: number, now: number): boolean {
    this.#packets++;
    const isMoving = ticks - this.#fromTicks >= this.#packets * MIN_TICKS_A_PACKET;
    const isStanding = !isMoving && this.#packets >= MIN_PACKETS && now - this.#sinceMs >= MAX_STANDSTILL_MS;
    if (isMoving || isStanding) this.start(ticks, now);
    return isStanding;
  }
}
