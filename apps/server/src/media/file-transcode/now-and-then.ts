import type { Clock } from "../../platform/clock.ts";

const TELL_EVERY_MS = 1_000;

/** Passes the progress on once a second at most. */
export function nowAndThen(
  clock: Pick<Clock, "monotonic">,
  tell: (fraction: number) => Promise<void>,
): (fraction: number) => Promise<void> {
  let at = Number.NEGATIVE_INFINITY;
  return async (fraction) => {
    if (clock.monotonic() - at < TELL_EVERY_MS) return;
    at = clock.monotonic();
    await tell(fraction);
  };
}
