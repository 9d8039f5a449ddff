import type { RtpPayload } from "@weir/formats/rtp";

/** A packet that may be requested again. Its payload is shared by all viewers of the source. */
export interface SentPacket {
  sequence: number;
  timestamp: number;
  payload: RtpPayload;
  sentAgainAt: number;
}

/** A viewer without a known round trip repeats its requests about this often. */
const ASSUMED_ROUND_TRIP_MS = 50;
/** Shorter round trips are not measured well. */
const MIN_ROUND_TRIP_MS = 5;

/** The newest packets of one track, for retransmission. */
export class SentPackets {
  readonly #slots: SentPacket[] = [];
  readonly #capacity: number;

  /** `capacity` must be a divisor of 65,536, so that sequence numbers wrap without a jump. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(sequence: number, timestamp: number, payload: RtpPayload): void {
    const slot = this.#slots[sequence % this.#capacity];
    if (!slot) {
      this.#slots[sequence % this.#capacity] = { sequence, timestamp, payload, sentAgainAt: Number.NEGATIVE_INFINITY };
      return;
    }
    slot.sequence = sequence;
    slot.timestamp = timestamp;
    slot.payload = payload;
    slot.sentAgainAt = Number.NEGATIVE_INFINITY;
  }

  /** The packet to send again. Null if it is too old, or was sent again less than a round trip ago: a request repeated in that time crossed the packet. */
  again(sequence: number, now: number, roundTripMs: number | null): SentPacket | null {
    const slot = this.#slots[sequence % this.#capacity];
    const minimum = Math.max(MIN_ROUND_TRIP_MS, roundTripMs ?? ASSUMED_ROUND_TRIP_MS);
    if (slot?.sequence !== sequence || now - slot.sentAgainAt < minimum) return null;
    slot.sentAgainAt = now;
    return slot;
  }
}
