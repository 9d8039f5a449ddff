import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";

const PERIOD_MS = 10_000;
/** A part is 334 ms long; every stream of the node feels a delay of a third of that. */
const TOO_LONG_MS = 100;

export interface EventLoopWatch {
  /** 99th percentile of the event loop's delay in the last complete period, in milliseconds. */
  p99Ms(): number;
  close(): void;
}

/** Measures the delay of this process's event loop, and warns if it is too long. */
export function watchEventLoop(clock: Clock, log: Log): EventLoopWatch {
  // Fine enough for the threshold above, and coarse enough to cost nothing.
  const resolution = 50;
  const histogram = monitorEventLoopDelay({ resolution });
  histogram.enable();
  let p99Ms = 0;
  const timer = clock.every(PERIOD_MS, () => {
    // The histogram includes its own sampling interval.
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
