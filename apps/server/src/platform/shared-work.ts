/** Work under way, by key: whoever asks for the same meanwhile gets the same answer, or failure. */
export class SharedWork<Value = void> {
  readonly #running = new Map<string, Promise<Value>>();

  run(work: () => Promise<Value>, key = ""): Promise<Value> {
    const running = this.#running.get(key);
    if (running) return running;
    const begun = work().finally(() => this.#running.delete(key));
    this.#running.set(key, begun);
    return begun;
  }

  /** Resolves when nothing is under way. Rejects as the work does. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
