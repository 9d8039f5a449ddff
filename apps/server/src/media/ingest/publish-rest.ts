import type { Clock, Timer } from "../../platform/clock.ts";

/** After this long without a pause, a sender is no longer ahead. */
const CAUGHT_UP_MS = 1000;

/** A sender whose pace is controlled. */
export interface PacedSender {
  /** Milliseconds to leave it unread; 0 to read on. */
  waitMs(): number;
  pause(): void;
  resume(): void;
  paceChanged(isAhead: boolean): void;
}

/**
 * Stops reading from a sender that is ahead of real time, so that the transport's flow control slows it down.
 *
 * *in time* → *resting*, while it is not read → *catching up*: read again, but still considered ahead → *in time*, after a second without a pause.
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

  /** Checks the pace. Call after each packet. */
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
    this.#sender.resume(); // last, because it may start the next pause
  }
}
