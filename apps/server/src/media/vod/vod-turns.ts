/** A child decodes and encodes several rungs side by side. */
const CORES_PER_CHILD = 2;

/** How many children may encode files: as many as live transcoding leaves cores for, and always one, which the system runs behind everything else. */
export function encodingPlaces(cores: number, liveCores: number): number {
  return Math.max(1, Math.floor((cores - liveCores) / CORES_PER_CHILD));
}

/** Lets so many do their work at a time; others wait in the order in which they came. */
export class VodTurns {
  readonly #places: () => number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `places` is asked again whenever somebody comes or goes. */
  constructor(places: () => number) {
    this.#places = places;
  }

  get places(): number {
    return this.#places();
  }

  /** Whether work would begin at once. */
  get isFree(): boolean {
    return this.#running < this.places && this.#waiting.length === 0;
  }

  /** Run `work` when it is its turn. Work that was aborted meanwhile is begun too, and must see that. */
  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running < this.places) this.#running++;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      return await work();
    } finally {
      this.#running--;
      while (this.#waiting.length > 0 && this.#running < this.places) {
        this.#running++;
        this.#waiting.shift()?.();
      }
    }
  }
}
