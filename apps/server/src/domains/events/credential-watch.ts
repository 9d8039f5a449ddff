import type { Clock, Timer } from "../../platform/clock.ts";
import { SharedWork } from "../../platform/shared-work.ts";

const LOOK_MS = 5_000;

interface Watched {
  readonly isValid: () => Promise<boolean>;
  readonly close: () => void;
}

/**
 * Ends readers within seconds after their key is deleted or their session expires. Each check looks a credential up once, however many readers
 * came with it.
 */
export class CredentialWatch {
  readonly #watched = new Map<string, Set<Watched>>();
  readonly #timer: Timer;
  readonly #looking = new SharedWork();

  constructor(clock: Clock) {
    this.#timer = clock.every(LOOK_MS, () => void this.#looking.run(() => this.#look()));
  }

  /** `isValid` never rejects. Returns a function that ends the watch. */
  watch(credentialId: string, watched: Watched): () => void {
    const ofCredential = this.#watched.get(credentialId) ?? new Set();
    this.#watched.set(credentialId, ofCredential.add(watched));
    return () => {
      ofCredential.delete(watched);
      if (ofCredential.size === 0 && this.#watched.get(credentialId) === ofCredential)
        this.#watched.delete(credentialId);
    };
  }

  close(): void {
    this.#timer.cancel();
  }

  async #look(): Promise<void> {
    for (const ofCredential of [...this.#watched.values()]) {
      const [first, ...others] = ofCredential;
      if (!first || (await first.isValid())) continue;
      first.close();
      // Two sessions of one key end independently.
      for (const other of others) if (!(await other.isValid())) other.close();
    }
  }
}
