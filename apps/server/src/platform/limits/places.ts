export interface PlacesSettings {
  /** For all holders together. */
  readonly inAll: number;
  readonly perHolder: number;
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

  /** False where the holder has its share, or nobody can have any more. */
  take(holder: Holder): boolean {
    const { inAll, perHolder } = this.#settings;
    const held = this.heldBy(holder);
    if (held >= perHolder || this.#taken >= inAll) return false;
    this.#held.set(holder, held + 1);
    this.#taken++;
    return true;
  }

  /** One of the places that this holder took. */
  giveBack(holder: Holder): void {
    const held = this.heldBy(holder);
    if (held === 0) return;
    if (held > 1) this.#held.set(holder, held - 1);
    else this.#held.delete(holder);
    this.#taken--;
  }
}
