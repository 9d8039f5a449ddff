import type { Clock, Timer } from "../../platform/clock.ts";

/** Without a rest for so long, a sender is no longer ahead. */
const CAUGHT_UP_MS = 1000;

/** A sender, as far as its pace is concerned. */
export interface PacedSender {
  /** How long it should be left unread, in ms; 0: it may send. */
  waitMs(): number;
  pause(): void;
  resume(): void;
  paceChanged(isAhead: boolean): void;
}

/**
 * Leaves a sender that is ahead of real time unread, so that its transport slows it down.
 *
 * *in time* → *resting*, until it may send → *catching up*: read again, and still called ahead → *in time*, once it has needed no rest for a second.
 */
export class PublishRest {
  readonly #clock: Clock;
  readonly #sender: PacedSender;
  #pace: "in time" | "resting" | "catching up" = "in time";
  #next: Timer | null = null;

  constructor(clock: Clock, sender: PacedSender) {
    this.#clock = clock;
    this.#sender = sender;
  }

  /** To be called after each packet. */
  look(): void {
    if (this.#pace === "resting") return;
    const waitMs = this.#sender.waitMs();
    if (waitMs > 0) this.#restFor(waitMs);
  }

  stop(): void {
    this.#next?.cancel();
  }

  #restFor(waitMs: number): void {
    if (this.#pace === "in time") this.#sender.paceChanged(true);
    this.#pace = "resting";
    this.#sender.pause();
    this.#next?.cancel();
    this.#next = this.#clock.after(waitMs, () => this.#wake());
  }

  #wake(): void {
    const waitMs = this.#sender.waitMs();
    if (waitMs > 0) return this.#restFor(waitMs);
    this.#pace = "catching up";
    this.#next = this.#clock.after(CAUGHT_UP_MS, () => {
      this.#pace = "in time";
      this.#sender.paceChanged(false);
    });
    this.#sender.resume(); // last: what it reads may need the next rest
  }
}
