/**
 * Pauses an upload, and resumes it.
 *
 * @example
 * const pause = new PauseSwitch();
 * pause.pause();
 * setTimeout(() => pause.resume(), 100);
 * await pause.whilePaused(undefined);
 */
export class PauseSwitch {
  #isPaused = false;
  #interrupt = new AbortController();
  readonly #waiting = new Set<() => void>();

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Aborted by the next pause. */
  get signal(): AbortSignal {
    return this.#interrupt.signal;
  }

  /** Interrupt the current transfer, and send nothing more. */
  pause(): void {
    this.#isPaused = true;
    this.#interrupt.abort(new Error("paused"));
  }

  /** Resume. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#interrupt = new AbortController();
    for (const goOn of this.#waiting) goOn();
  }

  /** Resolves at once unless paused. Rejects when the signal is aborted. */
  async whilePaused(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    while (this.#isPaused) {
      await new Promise<void>((resolve, reject) => {
        const goOn = () => {
          this.#waiting.delete(goOn);
          signal?.removeEventListener("abort", abort);
          resolve();
        };
        const abort = () => {
          this.#waiting.delete(goOn);
          reject(signal?.reason);
        };
        this.#waiting.add(goOn);
        signal?.addEventListener("abort", abort, { once: true });
      });
    }
  }
}
