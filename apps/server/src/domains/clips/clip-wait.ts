import type { Clock } from "../../platform/clock.ts";
import type { ClipRow } from "./clip-store.ts";

export const ASK_AGAIN_MS = 250;
/** The segment that holds the end of a clip of a running stream is finished and durable by then, or it never will be. */
export const MAX_WAIT_MS = 12_000;
/** And in the object store so much later. */
export const MAX_PUT_MS = 10_000;

/** When a clip has waited for `ms` since it was asked for, on the monotonic clock: the time of day may be set meanwhile. */
export function endOfWait(clock: Clock, { created_at }: ClipRow, ms: number): number {
  const leftMs = Number(created_at) + ms - clock.now();
  return clock.monotonic() + Math.min(ms, Math.max(0, leftMs));
}
