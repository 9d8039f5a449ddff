import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";

const PERIOD_MS = 10_000;
/** A part is 334 ms; a loop held up for a third of that is felt by every stream of the node. */
const TOO_LONG_MS = 100;

export interface EventLoopWatch {
  /** 99th percentile of the event loop's delay in the last whole period, in milliseconds. */
  p99Ms(): number;
  close(): void;
}

/** Measures how long this process's event loop is held up, and warns where it is for too long. */
export function watchEventLoop(clock: Clock, log: Log): EventLoopWatch {
  // Fine enough for the limit above, coarse enough to cost nothing.
  const resolution = 50;
  const histogram = monitorEventLoopDelay({ resolution });
  histogram.enable();
  let p99Ms = 0;
  const timer = clock.every(PERIOD_MS, () => {
    // The histogram counts its own sampling interval too.
    p99Ms = Math.max(0, Math.round(histogram.percentile(99) / 1e6) - resolution);
    histogram.reset();
    if (p99Ms > TOO_LONG_MS) log.warn({ p99Ms }, "the event loop was blocked: this node is overloaded");
  });
  return {
    p99Ms: () => p99Ms,
    close() {
      timer.cancel();
      histogram.disable();
    },
  };
}
