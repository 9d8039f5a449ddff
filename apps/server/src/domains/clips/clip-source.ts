import type { MediaIndex } from "../../ports/index.ts";
import type { ClipRow } from "./clip-store.ts";
import { endMsOf, FIRST_WALL_CLOCK_MS, momentAt } from "./clip-times.ts";

/** What a clip is cut from. Times are milliseconds of its program date-time. */
export interface ClipSource {
  readonly parent: MediaIndex;
  readonly fromMs: number;
  /** `Number.MAX_SAFE_INTEGER` for all that there is. */
  readonly toMs: number;
  /** Up to when there is media. */
  readonly endMs: number;
}

/** A clip of media whose whole index is at hand. */
export function sourceIn(parent: MediaIndex | null, { from_ms, to_ms }: ClipRow): ClipSource | null {
  if (!parent) return null;
  const momentOf = (ms: number): number => (ms < FIRST_WALL_CLOCK_MS ? momentAt(parent, ms) : ms);
  const toMs = to_ms === null ? Number.MAX_SAFE_INTEGER : momentOf(Number(to_ms));
  return { parent, fromMs: momentOf(Number(from_ms)), toMs, endMs: endMsOf(parent) };
}
