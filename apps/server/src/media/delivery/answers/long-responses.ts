import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../platform/clock.ts";

const LOOK_MS = 4_000;

/** Answers that take minutes, cut when whom they are for may not watch any longer. */
export class LongResponses {
  readonly #running = new Map<ServerResponse, () => Promise<boolean>>();
  readonly #timer: Timer;

  constructor(clock: Clock) {
    this.#timer = clock.every(LOOK_MS, () => this.#look());
  }

  /** `goesOn` is asked every 4 s; an answer about which it cannot be found out is cut. */
  watch(res: ServerResponse, goesOn: () => Promise<boolean>): void {
    this.#running.set(res, goesOn);
    res.once("close", () => this.#running.delete(res));
  }

  close(): void {
    this.#timer.cancel();
  }

  #look(): void {
    for (const [res, goesOn] of this.#running) {
      goesOn().then(
        (isAllowed) => isAllowed || res.destroy(),
        () => res.destroy(),
      );
    }
  }
}
