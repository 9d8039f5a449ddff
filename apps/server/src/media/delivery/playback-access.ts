import type { Clock } from "../../platform/clock.ts";
import type { PlaybackDecision, PlaybackGate, ViewerDetails } from "../../ports.ts";

const KEEP_MS = 5000;
const MAX_KEPT = 20_000;
const NOBODY: ViewerDetails = {
  protocol: "hls",
  address: "",
  url: "",
  host: "",
  userAgent: "",
  referer: "",
  origin: null,
};

/**
 * The gate's answers, asked for once and kept for 5 s, so that a segment request costs a look-up and a withdrawn permission ends within
 * that time. Requests that wait for the same answer share one question.
 */
export class PlaybackAccess {
  readonly #gate: PlaybackGate;
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly decision: PlaybackDecision; readonly until: number }>();
  readonly #asked = new Map<string, Promise<PlaybackDecision>>();

  constructor(gate: PlaybackGate, clock: Clock) {
    this.#gate = gate;
    this.#clock = clock;
  }

  /** The answer, where it is known and fresh. */
  known(playbackId: string): PlaybackDecision | null {
    const kept = this.#kept.get(playbackId);
    return kept && this.#clock.monotonic() < kept.until ? kept.decision : null;
  }

  ask(playbackId: string): Promise<PlaybackDecision> {
    const asked = this.#asked.get(playbackId);
    if (asked) return asked;
    const question = this.#gate
      .open({ playbackId, tokens: [], accessKeys: [], viewer: NOBODY })
      .then((decision) => this.#keep(playbackId, decision))
      .finally(() => this.#asked.delete(playbackId));
    this.#asked.set(playbackId, question);
    return question;
  }

  /** Ask again from now on. */
  forget(): void {
    this.#kept.clear();
  }

  #keep(playbackId: string, decision: PlaybackDecision): PlaybackDecision {
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(playbackId, { decision, until: this.#clock.monotonic() + KEEP_MS });
    return decision;
  }
}
