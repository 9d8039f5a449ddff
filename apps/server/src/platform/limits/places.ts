export interface PlacesSettings {
  /** For all holders together. */
  readonly inAll: number;
  readonly perHolder: number;
}

/** A place that somebody took. */
export interface Place {
  /** For others to take. Calling it again does nothing. */
  giveBack(): void;
}

/**
 * A limited number of places, of which each holder (a client, a project, a connection …) may have so many at a time. Memory is bounded by
 * the places: a holder without any is forgotten.
 */
export class Places<Holder = string> {
  readonly #settings: PlacesSettings;
  readonly #held = new Map<Holder, number>();
  #taken = 0;

  constructor(settings: PlacesSettings) {
    this.#settings = settings;
  }

  get taken(): number {
    return this.#taken;
  }

  heldBy(holder: Holder): number {
    return this.#held.get(holder) ?? 0;
  }

  /** Null where the holder has its share, or nobody can have any more. */
  take(holder: Holder): Place | null {
    const { inAll, perHolder } = this.#settings;
    const held = this.heldBy(holder);
    if (held >= perHolder || this.#taken >= inAll) return null;
    this.#held.set(holder, held + 1);
    this.#taken++;
    let isHeld = true;
    return {
      giveBack: () => {
        if (isHeld) this.#giveBack(holder);
        isHeld = false;
      },
    };
  }

  #giveBack(holder: Holder): void {
    const left = this.heldBy(holder) - 1;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
    this.#taken--;
  }
}
