import type { SrtMeasure } from "../../../ports/index.ts";
import type { SrtLinkReport } from "../../srt/index.ts";

/** Where more of the packets are lost at the first try, the network has a problem, even if all come in time. */
const MUCH_LOSS = 0.1;
/** A state lasts for so many reports, one a second: a network that is bad now and then is not told about each time. */
const KEPT_REPORTS = 10;

type LinkState = "well" | "lossy" | "late";

/** Sums up the reports of a connection between two questions. */
export class SrtLinkMeter {
  #newest: SrtLinkReport | null = null;
  #state: LinkState = "well";
  #reportsLeft = 0;
  #expected = 0;
  #lost = 0;
  #retransmits = 0;
  #late = 0;

  report(report: SrtLinkReport): void {
    this.#newest = report;
    this.#lost += report.lost;
    this.#expected += expectedIn(report);
    this.#retransmits += report.retransmitted;
    this.#late += report.dropped;
    const state = stateOf(report);
    const isWorse = state === "late" || (state === "lossy" && this.#state !== "late");
    if (!isWorse && --this.#reportsLeft > 0) return;
    this.#state = state;
    this.#reportsLeft = KEPT_REPORTS;
  }

  /** The worst of the newest reports. */
  get state(): LinkState {
    return this.#state;
  }

  /** Since the last call; null before the first report. */
  take(): SrtMeasure | null {
    const newest = this.#newest;
    if (!newest) return null;
    const measure = {
      roundTripMs: newest.roundTripMs,
      fractionLost: this.#expected === 0 ? 0 : Math.min(1, this.#lost / this.#expected),
      retransmits: this.#retransmits,
      latePackets: this.#late,
      latencyMs: newest.latencyMs,
    };
    this.#expected = 0;
    this.#lost = 0;
    this.#retransmits = 0;
    this.#late = 0;
    return measure;
  }
}

function stateOf(report: SrtLinkReport): LinkState {
  if (report.dropped > 0) return "late";
  return report.lost > expectedIn(report) * MUCH_LOSS ? "lossy" : "well";
}

/** Packets without retransmissions, which are extra: what came at the first try, and what did not. */
const expectedIn = ({ received, retransmitted, lost }: SrtLinkReport): number =>
  Math.max(0, received - retransmitted) + lost;
