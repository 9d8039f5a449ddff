export interface PlacesSettings {
  /** For all holders together. */
  readonly inAll: number;
  readonly perHolder: number;
}

/**
 * A limited number of places, with a limit per holder (a client, a project, a connection …). The places bound the memory: a holder without one
 * is forgotten.
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

  /** False if the holder has used its share, or all places are taken. */
  take(holder: Holder): boolean {
    const { inAll, perHolder } = this.#settings;
    const held = this.heldBy(holder);
    if (held >= perHolder || this.#taken >= inAll) return false;
    this.#held.set(holder, held + 1);
    this.#taken++;
    return true;
  }

  /** Release one of the holder's places. */
  giveBack(holder: Holder): void {
    const held = this.heldBy(holder);
    if (held === 0) return;
    if (held > 1) this.#held.set(holder, held - 1);
    else this.#held.delete(holder);
    this.#taken--;
  }
}
