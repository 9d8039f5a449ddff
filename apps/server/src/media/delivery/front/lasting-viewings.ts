import type { Clock, Timer } from "../../../platform/clock.ts";

const LOOK_MS = 4_000;

/** What a viewer receives for minutes after one admission: a download, a WebRTC connection. */
export interface LastingViewing {
  readonly playbackId: string;
  /** `hasChanged`: the rules did, so that no earlier decision counts. Rejects if this cannot be determined. */
  readonly isAllowed: (hasChanged: boolean) => Promise<boolean>;
  readonly end: () => void;
}

/** Asks every 4 s, and at once when access rules changed, whether lasting viewings may go on, and ends those that may not. */
export class LastingViewings {
  readonly #running = new Set<LastingViewing>();
  readonly #timer: Timer;

  constructor(clock: Clock) {
    this.#timer = clock.every(LOOK_MS, () => this.#look("all", false));
  }

  /** Returns the function to call when it has ended by itself. */
  add(viewing: LastingViewing): () => void {
    this.#running.add(viewing);
    return () => void this.#running.delete(viewing);
  }

  /** Checks the viewings of this playback id, or all. */
  accessChanged(playbackId: string | "all"): void {
    this.#look(playbackId, true);
  }

  close(): void {
    this.#timer.cancel();
  }

  #look(playbackId: string | "all", hasChanged: boolean): void {
    for (const viewing of this.#running) {
      if (playbackId !== "all" && viewing.playbackId !== playbackId) continue;
      const end = (): void => {
        if (this.#running.delete(viewing)) viewing.end();
      };
      viewing.isAllowed(hasChanged).then((isAllowed) => isAllowed || end(), end);
    }
  }
}
