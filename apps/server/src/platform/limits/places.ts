export interface PlacesSettings {
  /** For all holders together. */
  readonly inAll: number;
  readonly perHolder: number;
}

/**
 * A limited number of places, with a limit per holder (a client, a project, a connection …). The places bound the memory: a holder without one
 * is forgotten. What takes `count` of them is larger, as a response is by its bytes.
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
  take(holder: Holder, count = 1): boolean {
    const { inAll, perHolder } = this.#settings;
    const held = this.heldBy(holder);
    if (held + count > perHolder || this.#taken + count > inAll) return false;
    this.#held.set(holder, held + count);
    this.#taken += count;
    return true;
  }

  /** Release places of the holder, at most those that it has. */
  giveBack(holder: Holder, count = 1): void {
    const held = this.heldBy(holder);
    const released = Math.min(held, count);
    if (held > released) this.#held.set(holder, held - released);
    else this.#held.delete(holder);
    this.#taken -= released;
  }
}
