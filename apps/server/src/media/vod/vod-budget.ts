/** A child decodes and encodes several rungs side by side. */
const CORES_PER_CHILD = 2;

export interface VodBudgetSettings {
  readonly cores: number;
  /** Cores that live transcoding counts with. */
  readonly liveCores: () => number;
}

/** How many children encode files at a time: as many as live transcoding leaves room for, and always one, which the system runs behind everything else. */
export class VodBudget {
  readonly #settings: VodBudgetSettings;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(settings: VodBudgetSettings) {
    this.#settings = settings;
  }

  get #places(): number {
    const { cores, liveCores } = this.#settings;
    return Math.max(1, Math.floor((cores - liveCores()) / CORES_PER_CHILD));
  }

  /** Run `work` when it is its turn. Work that was aborted meanwhile is begun too, and must see that. */
  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running < this.#places) this.#running++;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      return await work();
    } finally {
      this.#running--;
      while (this.#waiting.length > 0 && this.#running < this.#places) {
        this.#running++;
        this.#waiting.shift()?.();
      }
    }
  }
}
