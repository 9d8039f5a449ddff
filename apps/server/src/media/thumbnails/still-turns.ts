import { TooManyStills } from "./still-maker.ts";

export interface StillTurnsSettings {
  readonly atATime: number;
  /** More are refused. */
  readonly maxWaiting: number;
}

/** Lets so much work be done at a time; other work waits in the order in which it came. */
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
      // The place is handed on, so that nobody who comes now gets in between.
      if (begin) begin();
      else this.#running--;
    }
  }
}
