import type { PeerReport } from "./webrtc-protocol.ts";

/** How well a connection carried media for some seconds. */
export interface LinkFigures {
  /** Null where the other side does not tell. */
  readonly roundTripMs: number | null;
  /** Of the packets, on average: from 0 to 1. */
  readonly fractionLost: number;
  /** Packets that were asked for again. */
  readonly retransmits: number;
}

/** Sums up what is reported of a connection between two looks. */
export class LinkMeter {
  #reports = 0;
  #fractionsLost = 0;
  #roundTripMs: number | null = null;
  #retransmits = 0;
  #looked = 0;

  report({ fractionLost, roundTripMs, retransmits }: PeerReport): void {
    this.#reports++;
    this.#fractionsLost += fractionLost;
    this.#roundTripMs = roundTripMs;
    this.#retransmits = retransmits;
  }

  /** Since the last look; null where nothing was reported. */
  take(): LinkFigures | null {
    if (this.#reports === 0) return null;
    const figures = {
      roundTripMs: this.#roundTripMs,
      fractionLost: this.#fractionsLost / this.#reports,
      retransmits: this.#retransmits - this.#looked,
    };
    this.#reports = 0;
    this.#fractionsLost = 0;
    this.#looked = this.#retransmits;
    return figures;
  }
}
