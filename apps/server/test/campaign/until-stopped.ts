/** Work that goes on until it is stopped. Rejects, when it is stopped, with what it threw. */
export class UntilStopped implements AsyncDisposable {
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;

  constructor(work: (signal: AbortSignal) => Promise<void>) {
    this.#running = work(this.#abort.signal);
    // Told when it is stopped.
    this.#running.catch(() => {});
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
