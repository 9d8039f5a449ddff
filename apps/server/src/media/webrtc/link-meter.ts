import type { LinkMeasure } from "../../ports/index.ts";
import type { PeerReport } from "./webrtc-protocol.ts";

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
  take(): LinkMeasure | null {
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
