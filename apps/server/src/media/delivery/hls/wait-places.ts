import { Places } from "../../../platform/limits/places.ts";

const MAX_WAITS = 20_000;
/** The remainder is for other streams. */
const MAX_PER_STREAM = 15_000;
/** A thousand viewers behind one address, each waiting for two playlists and the next part of both. */
const MAX_PER_CLIENT = 5_000;

export interface WaitPlace {
  readonly client: string;
  readonly playbackId: string;
}

/** Slots for waiting requests, limited per client and per stream as well as in total. */
export class WaitPlaces {
  readonly #clients = new Places({ inAll: MAX_WAITS, perHolder: MAX_PER_CLIENT });
  readonly #streams = new Places({ inAll: MAX_WAITS, perHolder: MAX_PER_STREAM });

  get taken(): number {
    return this.#clients.taken;
  }

  /** Null if no slot is free. */
  take(client: string, playbackId: string): WaitPlace | null {
    if (!this.#clients.take(client)) return null;
    if (this.#streams.take(playbackId)) return { client, playbackId };
    this.#clients.giveBack(client);
    return null;
  }

  giveBack({ client, playbackId }: WaitPlace): void {
    this.#clients.giveBack(client);
    this.#streams.giveBack(playbackId);
  }
}
