import type { PeerReport } from "./webrtc-protocol.ts";

/** Quality of a connection over several seconds. */
export interface LinkFigures {
  /** Null if the peer does not report it. */
  readonly roundTripMs: number | null;
  /** Average fraction of packets lost, 0 to 1. */
  readonly fractionLost: number;
  /** Number of packets requested again. */
  readonly retransmits: number;
}

/** Aggregates the reports of a connection between two calls of `take`. */
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

  /** Figures since the last call; null without reports. */
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
