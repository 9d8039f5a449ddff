import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { type RunningChild, startMediaChild } from "./media-child.ts";

export interface TestBroadcastJob {
  readonly url: string;
  readonly seconds: number;
}

export class TooManyTestBroadcasts extends Error {
  override readonly name = "TooManyTestBroadcasts";
  readonly code = "too-many-test-broadcasts";
}

const MAX_RUNNING = 4;
const MAX_SECONDS = 3600;
/** For starting, connecting and saying goodbye. */
const GRACE_MS = 15_000;

/** Moving pictures with a clock and a tone, sent by this node to itself: each from a child process, for a time that was asked for. */
export class TestBroadcasts {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #running = new Set<RunningChild>();

  constructor(options: { readonly log: Log; readonly clock: Clock }) {
    this.#log = options.log;
    this.#clock = options.clock;
  }

  /** Publishes to an RTMP address for 1 to 3600 seconds, then stops as a person does. Throws `TooManyTestBroadcasts` when four are running. */
  start(job: TestBroadcastJob): RunningChild {
    if (this.#running.size >= MAX_RUNNING) {
      throw new TooManyTestBroadcasts(`${MAX_RUNNING} test broadcasts are running; wait for one to end`);
    }
    const seconds = Math.min(Math.max(1, job.seconds), MAX_SECONDS);
    const child = startMediaChild({
      module: new URL("./test-broadcast-child.ts", import.meta.url),
      job: { url: job.url, seconds },
      lifeMs: seconds * 1000 + GRACE_MS,
      clock: this.#clock,
      log: this.#log,
    });
    this.#running.add(child);
    this.#log.info({ pid: child.pid, seconds }, "test broadcast started");
    child.ended.then((end) => {
      this.#running.delete(child);
      if (end.ok) this.#log.info({ pid: child.pid }, "test broadcast ended");
      else this.#log.warn({ pid: child.pid, reason: end.reason }, "test broadcast failed");
    });
    return child;
  }

  /** Ends all of them at once. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#running, (child) => child.kill()));
  }
}
