import { TooManyStills } from "./still-maker.ts";

export interface StillTurnsSettings {
  readonly atATime: number;
  /** Beyond this, work is rejected. */
  readonly maxWaiting: number;
}

/** Limits how much work runs at once; the rest waits in order of arrival. */
export class StillTurns {
  readonly #settings: StillTurnsSettings;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(settings: StillTurnsSettings) {
    this.#settings = settings;
  }

  /** Rejects with `TooManyStills`. */
  async run<Made>(work: () => Promise<Made>): Promise<Made> {
    const { atATime, maxWaiting } = this.#settings;
    if (this.#running < atATime) this.#running++;
    else if (this.#waiting.length >= maxWaiting) throw new TooManyStills("too many pictures are being made");
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      return await work();
    } finally {
      const begin = this.#waiting.shift();
      // Passes the slot on, so that no newcomer takes it first.
      if (begin) begin();
      else this.#running--;
    }
  }
}
