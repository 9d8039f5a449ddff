import type { Log } from "../../platform/log.ts";

/** Counts what a reader of a feed was too slow for. One line of the log gives the number when the reader is over. */
export class DroppedSamples {
  readonly #log: Log;
  readonly #reader: Readonly<Record<string, string>>;
  #count = 0;

  /** `reader`: which one it is, for the log. */
  constructor(log: Log, reader: Readonly<Record<string, string>>) {
    this.#log = log;
    this.#reader = reader;
  }

  add(samples: number): void {
    this.#count += samples;
  }

  /** The reader is over, or begins anew. */
  report(): void {
    const dropped = this.#count;
    this.#count = 0;
    if (dropped > 0)
      this.#log.warn(
        { ...this.#reader, dropped },
        "a reader of a stream was too slow, or not ready: it missed samples",
      );
  }
}
