import type { Clock } from "../../../platform/clock.ts";

/** Resolves after `ms`. Rejects with the signal's reason once it is aborted. */
export function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    signal.addEventListener("abort", stop, { once: true });
  });
}
