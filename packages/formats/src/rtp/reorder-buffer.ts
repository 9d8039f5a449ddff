import { WrappedCounter } from "../bits/index.ts";
import type { RtpPacket } from "./rtp-packet.ts";

/** How long to wait for a missing packet before giving it up. A retransmission takes one round trip. */
const MAX_WAIT_MS = 250;
const MAX_PACKETS = 1024;
/** Beyond this distance the sender has restarted its sequence numbers. */
const MAX_JUMP = 3000;
/** With more packets missing at once, nothing that arrived can be used: three seconds of 10 Mbit/s. */
const MAX_MISSING = 3500;
/** Interval between requests for the same packet. */
const ASK_AGAIN_MS = 60;
const MAX_ASKED = 3;

interface Missing {
  readonly since: number;
  askedAt: number;
  asked: number;
}

export interface ReorderStatistics {
  /** Packets expected so far. */
  readonly expected: number;
  /** Expected packets that never arrived. */
  readonly lost: number;
  readonly highestSequence: number;
}

/**
 * Puts the packets of one RTP stream in sequence order. A gap delays later packets by at most a quarter of a second while the missing packets are
 * requested again; then the gap is reported.
 */
export class ReorderBuffer {
  readonly #counter = new WrappedCounter(16);
  readonly #waiting = new Map<number, RtpPacket>();
  readonly #missing = new Map<number, Missing>();
  readonly #onPacket: (packet: RtpPacket, isAfterGap: boolean) => void;
  #next: number | null = null;
  #highest = 0;
  #first = 0;
  #received = 0;
  #isAfterGap = false;

  /** `isAfterGap`: packets before this one were lost. */
  constructor(onPacket: (packet: RtpPacket, isAfterGap: boolean) => void) {
    this.#onPacket = onPacket;
  }

  get statistics(): ReorderStatistics {
    const expected = this.#next === null ? 0 : this.#highest - this.#first + 1;
    return { expected, lost: Math.max(0, expected - this.#received), highestSequence: this.#highest };
  }

  push(packet: RtpPacket, nowMs: number): void {
    const number = this.#counter.unwrap(packet.sequence);
    const jump = number - this.#highest;
    if (this.#next === null || Math.abs(jump) > MAX_JUMP || this.#missing.size + jump > MAX_MISSING)
      this.#begin(number);
    const next = this.#next ?? number;
    if (number < next || this.#waiting.has(number)) return;
    this.#received++;
    this.#missing.delete(number);
    for (let gap = Math.max(next, this.#highest + 1); gap < number; gap++)
      this.#missing.set(gap, { since: nowMs, askedAt: Number.NEGATIVE_INFINITY, asked: 0 });
    this.#highest = Math.max(this.#highest, number);
    this.#waiting.set(number, packet);
    if (this.#waiting.size > MAX_PACKETS) this.#giveUpOldestGap();
    this.#release();
  }

  /** Gives up packets that are missing for too long. Call every few milliseconds. */
  tick(nowMs: number): void {
    for (const [, { since }] of this.#missing) {
      if (nowMs - since < MAX_WAIT_MS) return;
      this.#giveUpOldestGap();
      this.#release();
    }
  }

  /** Sequence numbers (16 bits) to request from the sender now. */
  wanted(nowMs: number): number[] {
    const wanted: number[] = [];
    for (const [number, missing] of this.#missing) {
      if (missing.asked >= MAX_ASKED || nowMs - missing.askedAt < ASK_AGAIN_MS) continue;
      missing.asked++;
      missing.askedAt = nowMs;
      wanted.push(number & 0xffff);
    }
    return wanted;
  }

  #begin(number: number): void {
    if (this.#next !== null) this.#isAfterGap = true;
    this.#waiting.clear();
    this.#missing.clear();
    this.#next = number;
    this.#first = number;
    this.#highest = number - 1;
    this.#received = 0;
  }

  /** Continues with the oldest buffered packet. */
  #giveUpOldestGap(): void {
    if (this.#waiting.size === 0) return;
    const next = Math.min(...this.#waiting.keys());
    for (const number of this.#missing.keys()) if (number < next) this.#missing.delete(number);
    this.#next = next;
    this.#isAfterGap = true;
  }

  #release(): void {
    for (;;) {
      const packet = this.#next === null ? undefined : this.#waiting.get(this.#next);
      if (!packet || this.#next === null) return;
      this.#waiting.delete(this.#next++);
      const isAfterGap = this.#isAfterGap;
      this.#isAfterGap = false;
      this.#onPacket(packet, isAfterGap);
    }
  }
}
