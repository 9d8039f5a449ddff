import { TICKS_PER_SECOND } from "../packet.ts";

/** A source that is back sooner gets no slate. Low-latency players hold back more than this. */
const AWAY_MS = 500;
/** Of a process that was stopped for a while. */
const MAX_AT_ONCE = 100;

export interface AwaySlateSettings {
  /** End of what the source sent, in 90 kHz ticks. */
  readonly ticks: number;
  /** When its last packet arrived, on the monotonic clock. */
  readonly since: number;
  /** Returns the time from one picture to the next; null if none can be shown. */
  readonly begin: () => number | null;
  readonly picture: (ticks: number, duration: number) => void;
}

/**
 * The clock of one slate: it repeats the last picture at the pace of the wall clock, from where the source has left.
 *
 * *waiting*: the source may be back in a moment → *shown* until it is back, or *none*: there is no picture to show.
 */
export class AwaySlate {
  readonly #settings: AwaySlateSettings;
  #state: "waiting" | "shown" | "none" = "waiting";
  #paceTicks = 0;
  /** End of the last picture. */
  #endTicks: number;

  constructor(settings: AwaySlateSettings) {
    this.#settings = settings;
    this.#endTicks = settings.ticks;
  }

  get isShown(): boolean {
    return this.#state === "shown";
  }

  /** Shows the pictures that are over by now. */
  show(now: number): void {
    const { ticks, since, begin, picture } = this.#settings;
    const awayMs = now - since;
    if (this.#state === "waiting" && awayMs >= AWAY_MS) {
      const pace = begin();
      this.#state = pace === null ? "none" : "shown";
      this.#paceTicks = pace ?? 0;
    }
    if (this.#state !== "shown") return;
    const until = ticks + Math.round((awayMs * TICKS_PER_SECOND) / 1000);
    for (let shown = 0; shown < MAX_AT_ONCE && this.#endTicks + this.#paceTicks <= until; shown++) {
      picture(this.#endTicks, this.#paceTicks);
      this.#endTicks += this.#paceTicks;
    }
  }
}
