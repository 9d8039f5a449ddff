/** A child decodes one file and encodes several rungs in parallel. */
const CORES_PER_CHILD = 2;

/** How many children may encode files: as many as live transcoding leaves cores for, and at least one, which runs at low priority. */
export function encodingSlots(cores: number, liveCores: number): number {
  return Math.max(1, Math.floor((cores - liveCores) / CORES_PER_CHILD));
}

/** Limits how much work runs at once; the rest waits in order of arrival. */
export class VodTurns {
  readonly #slots: () => number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `slots` is called again whenever work starts or ends, because the limit may change. */
  constructor(slots: () => number) {
    this.#slots = slots;
  }

  get slots(): number {
    return this.#slots();
  }

  /** Whether work would start immediately. */
  get isFree(): boolean {
    return this.#running < this.slots && this.#waiting.length === 0;
  }

  /** Runs `work` when a slot is free. Aborted work also gets its turn and must check its signal. */
  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running < this.slots) this.#running++;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      return await work();
    } finally {
      this.#running--;
      while (this.#waiting.length > 0 && this.#running < this.slots) {
        this.#running++;
        this.#waiting.shift()?.();
      }
    }
  }
}
