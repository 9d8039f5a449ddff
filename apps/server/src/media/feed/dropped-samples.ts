import type { Log } from "../../platform/log.ts";

/** Counts the samples that a reader of a feed was too slow for. One line of the log gives their number when the reader ends. */
export class DroppedSamples {
  readonly #log: Log;
  readonly #reader: string;
  #count = 0;

  /** `reader` names the kind of reader in the log. */
  constructor(log: Log, reader: string) {
    this.#log = log;
    this.#reader = reader;
  }

  add(samples: number): void {
    this.#count += samples;
  }

  /** The reader ends, or begins again. */
  report(): void {
    const dropped = this.#count;
    this.#count = 0;
    if (dropped === 0) return;
    this.#log.warn(
      { reader: this.#reader, dropped },
      "a reader of a stream was too slow, or not ready: it missed samples",
    );
  }
}
