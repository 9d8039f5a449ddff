const MAX_STANDSTILL_MS = 5000;
/** With fewer packets the check is not reliable. */
const MIN_PACKETS = 50;
/** No source sends a thousand frames per second. A slow network delays frames but does not change their timestamps. */
const MIN_TICKS_A_PACKET = 90;

/** Detects a source whose clock stands still: for 5 s, packets arrive whose timestamps advance by less than a millisecond per packet. */
export class Standstill {
  #sinceMs = 0;
  #fromTicks = 0;
  #packets = 0;

  /** Restarts the check at `ticks`. */
  start(ticks: number, now: number): void {
    this.#fromTicks = ticks;
    this.#sinceMs = now;
    this.#packets = 0;
  }

  /** A packet arrived, and the clock is at `ticks`. Returns true if the clock has stood still for too long. */
  packet(ticks: number, now: number): boolean {
    this.#packets++;
    const isMoving = ticks - this.#fromTicks >= this.#packets * MIN_TICKS_A_PACKET;
    const isStanding = !isMoving && this.#packets >= MIN_PACKETS && now - this.#sinceMs >= MAX_STANDSTILL_MS;
    if (isMoving || isStanding) this.start(ticks, now);
    return isStanding;
  }
}
