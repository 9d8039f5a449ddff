import type { Clock } from "../../platform/clock.ts";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import type { Log } from "../../platform/log.ts";
import type { Db } from "../schema.ts";
import { wantPull } from "./watched-pulls.ts";

/** Viewers of an idle stream ask every second or so, and there may be any number. */
const EVERY_MS = 2_000;

export interface WantedPullsDeps {
  /** Database connections for what viewers cause. */
  readonly viewers: Db;
  readonly clock: Clock;
  readonly log: Log;
}

/** Streams that viewers asked for and that are pulled only while somebody watches: each costs at most one write in two seconds, whoever asks. */
export class WantedPulls {
  readonly #deps: WantedPullsDeps;
  readonly #limit: RateLimit;

  constructor(deps: WantedPullsDeps) {
    this.#deps = deps;
    this.#limit = new RateLimit({ clock: deps.clock, quota: 1, windowMs: EVERY_MS });
  }

  /** Returns at once. If the database does not answer, a viewer who asks later asks it again. */
  want(streamId: string): void {
    const { viewers, clock, log } = this.#deps;
    if (!this.#limit.take(streamId).isAllowed) return;
    wantPull(viewers, streamId, clock.now()).catch((error: unknown) =>
      log.warn({ err: error, streamId }, "could not note that a viewer waits for a pull"),
    );
  }
}
