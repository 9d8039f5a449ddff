import type { MediaIndex } from "../../ports/index.ts";
import { findRecordedRange, hasUnsealed, readRecordingMoment, readSealedPart } from "../recordings/index.ts";
import type { Db } from "../schema.ts";
import type { ClipRow } from "./clip-store.ts";
import { endMsOf, FIRST_WALL_CLOCK_MS, momentAt } from "./clip-times.ts";

/** What a clip is cut from. Times are milliseconds of its program date-time. */
export interface ClipSource {
  readonly parent: MediaIndex;
  readonly fromMs: number;
  /** `Number.MAX_SAFE_INTEGER` up to the end of the media. */
  readonly toMs: number;
  /** End of the media. */
  readonly endMs: number;
}

/** The source of a clip in media with a complete index. */
export function sourceIn(parent: MediaIndex | null, { from_ms, to_ms }: ClipRow): ClipSource | null {
  if (!parent) return null;
  const momentOf = (ms: number): number => (ms < FIRST_WALL_CLOCK_MS ? momentAt(parent, ms) : ms);
  const toMs = to_ms === null ? Number.MAX_SAFE_INTEGER : momentOf(Number(to_ms));
  return { parent, fromMs: momentOf(Number(from_ms)), toMs, endMs: endMsOf(parent) };
}

/** The part of a recording that a clip shows, as far as it is in the object store. Null where the recording is gone. */
export async function recordedSource(
  db: Db,
  sessionId: string,
  clip: ClipRow,
): Promise<(ClipSource & { isSealed(): Promise<boolean> }) | null> {
  const momentOf = async (ms: number): Promise<number> =>
    ms < FIRST_WALL_CLOCK_MS ? ((await readRecordingMoment(db, sessionId, ms)) ?? ms) : ms;
  const fromMs = await momentOf(Number(clip.from_ms));
  const toMs = clip.to_ms === null ? Number.MAX_SAFE_INTEGER : await momentOf(Number(clip.to_ms));
  const range = await findRecordedRange(db, sessionId, fromMs, toMs);
  // A range without segments: the clip says that there is nothing to cut.
  const parent = await readSealedPart(db, sessionId, range ?? { first: 0, last: -1 });
  const isSealed = async () => range === null || !(await hasUnsealed(db, sessionId, range));
  return parent && { parent, fromMs, toMs, endMs: range?.endMs ?? 0, isSealed };
}
