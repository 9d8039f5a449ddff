/** One picture that is shown and renewed. */
export interface Still {
  /** The address of the newest picture. */
  readonly address: () => string;
  /** Called when the picture of an address is loaded. */
  readonly show: (address: string) => void;
}

/** The longest wait after pictures that failed, in periods. */
const MAX_PERIODS = 12;

export interface StillRoundsSettings {
  /** Loads the picture of an address; rejects where there is none. */
  readonly load: (address: string) => Promise<unknown>;
  readonly periodMs: number;
  readonly maxAtOnce: number;
}

/**
 * Loads the pictures of live streams that are in sight again and again: each a period after its last one came, a few at a time, and none
 * while the page is hidden. One that fails is asked for half as often each time. A slow server is asked less often, and no picture waits forever.
 */
export class StillRounds {
  readonly #settings: StillRoundsSettings;
  readonly #inSight = new Set<Still>();
  readonly #waiting = new Set<Still>();
  readonly #timers = new Map<Still, ReturnType<typeof setTimeout>>();
  readonly #waits = new Map<Still, number>();
  #loading = 0;
  #isPaused = false;

  constructor(settings: StillRoundsSettings) {
    this.#settings = settings;
  }

  /** The picture is in sight from now on, until the returned function is called. */
  add(still: Still): () => void {
    this.#inSight.add(still);
    this.#due(still);
    return () => {
      this.#inSight.delete(still);
      this.#waiting.delete(still);
      clearTimeout(this.#timers.get(still));
      this.#timers.delete(still);
      this.#waits.delete(still);
    };
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#loadNext();
  }

  #due(still: Still): void {
    this.#timers.delete(still);
    this.#waiting.add(still);
    this.#loadNext();
  }

  #loadNext(): void {
    for (const still of this.#waiting) {
      if (this.#isPaused || this.#loading >= this.#settings.maxAtOnce) return;
      this.#waiting.delete(still);
      void this.#load(still);
    }
  }

  async #load(still: Still): Promise<void> {
    const address = still.address();
    this.#loading++;
    const isLoaded = await this.#settings.load(address).then(
      () => true,
      () => false,
    );
    this.#loading--;
    if (this.#inSight.has(still)) {
      if (isLoaded) still.show(address);
      const periods = isLoaded ? 1 : (this.#waits.get(still) ?? 1);
      this.#waits.set(still, isLoaded ? 1 : Math.min(periods * 2, MAX_PERIODS));
      const timer = setTimeout(() => this.#due(still), periods * this.#settings.periodMs);
      this.#timers.set(still, timer);
    }
    this.#loadNext();
  }
}
