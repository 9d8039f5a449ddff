import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../platform/clock.ts";

const LOOK_MS = 4_000;

/** Responses that take minutes. They are cut when their viewer is no longer allowed to watch. */
export class LongResponses {
  readonly #running = new Map<ServerResponse, () => Promise<boolean>>();
  readonly #timer: Timer;

  constructor(clock: Clock) {
    this.#timer = clock.every(LOOK_MS, () => this.#look());
  }

  /** `isStillAllowed` is called every 4 s. If it rejects, the response is cut as well. */
  watch(res: ServerResponse, isStillAllowed: () => Promise<boolean>): void {
    this.#running.set(res, isStillAllowed);
    res.once("close", () => this.#running.delete(res));
  }

  close(): void {
    this.#timer.cancel();
  }

  #look(): void {
    for (const [res, isStillAllowed] of this.#running) {
      isStillAllowed().then(
        (isAllowed) => isAllowed || res.destroy(),
        () => res.destroy(),
      );
    }
  }
}
