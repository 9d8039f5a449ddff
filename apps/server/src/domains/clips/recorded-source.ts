import type { Clock } from "../../platform/clock.ts";
import { sleep } from "../../platform/retry.ts";
import type { MediaControl } from "../../ports/index.ts";
import {
  findRecordedRange,
  type RenditionProgress,
  readRecordingMoment,
  readRecordingProgress,
  readSealedPart,
} from "../recordings/index.ts";
import type { Db } from "../schema.ts";
import type { ClipSource } from "./clip-source.ts";
import type { ClipRow } from "./clip-store.ts";
import { FIRST_WALL_CLOCK_MS } from "./clip-times.ts";
import { ASK_AGAIN_MS, endOfWait, MAX_WAIT_MS } from "./clip-wait.ts";

export interface RecordedSourceDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly mediaControl: Pick<MediaControl, "sealRecording">;
}

/**
 * The part of a recording that a clip shows. Of a running stream, the media node is asked once to store it as far as the clip needs it, and one row
 * for each rendition is read until that is done. Null where the recording is gone.
 */
export async function recordedSource(
  deps: RecordedSourceDeps,
  clip: ClipRow,
  signal: AbortSignal,
): Promise<ClipSource | null> {
  const { db } = deps;
  const sessionId = clip.session_id ?? "";
  const progress = await stored(deps, sessionId, clip, signal);
  const momentOf = async (ms: number): Promise<number> =>
    ms < FIRST_WALL_CLOCK_MS ? ((await readRecordingMoment(db, sessionId, ms)) ?? ms) : ms;
  const fromMs = await momentOf(Number(clip.from_ms));
  const toMs = clip.to_ms === null ? Number.MAX_SAFE_INTEGER : await momentOf(Number(clip.to_ms));
  const range = await findRecordedRange(db, sessionId, fromMs, toMs);
  // A range without segments: the clip says that there is nothing to cut.
  const parent = await readSealedPart(db, sessionId, range ?? { first: 0, last: -1 });
  return parent && { parent, fromMs, toMs, endMs: leadOf(progress)?.sealedUntilMs ?? 0 };
}

/** Waits until a running stream's media are in the object store as far as the clip needs them, or for the longest wait. */
async function stored(
  { db, clock, mediaControl }: RecordedSourceDeps,
  sessionId: string,
  clip: ClipRow,
  signal: AbortSignal,
): Promise<RenditionProgress[]> {
  const untilMs = await neededUntil(db, sessionId, clip);
  const deadline = endOfWait(clock, clip, MAX_WAIT_MS);
  for (let isAsked = false; ; isAsked = true) {
    const progress = await readRecordingProgress(db, sessionId);
    if (clip.ended_at !== null || clock.monotonic() >= deadline || isStored(progress, untilMs)) return progress;
    if (!isAsked) await mediaControl.sealRecording(sessionId, untilMs);
    await sleep(clock, ASK_AGAIN_MS);
    signal.throwIfAborted();
  }
}

/** The end of the clip, but nothing that comes after the request for it. */
async function neededUntil(db: Db, sessionId: string, { to_ms, created_at }: ClipRow): Promise<number> {
  const askedAt = Number(created_at);
  if (to_ms === null) return askedAt;
  const toMs = Number(to_ms);
  if (toMs >= FIRST_WALL_CLOCK_MS) return Math.min(toMs, askedAt);
  return Math.min(((await readRecordingMoment(db, sessionId, 0)) ?? askedAt) + toMs, askedAt);
}

/** A rung that stopped is waited for as far as it got. */
function isStored(progress: readonly RenditionProgress[], untilMs: number): boolean {
  const lead = leadOf(progress);
  if (!lead || (lead.sealedUntilMs ?? 0) < untilMs) return false;
  return progress.every(
    ({ closedUntilMs, sealedUntilMs }) => (sealedUntilMs ?? 0) >= Math.min(closedUntilMs ?? 0, untilMs),
  );
}

function leadOf(progress: readonly RenditionProgress[]): RenditionProgress | undefined {
  return progress.find(({ rendition }) => rendition === "source") ?? progress[0];
}
