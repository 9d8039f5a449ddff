import type { Clock } from "../../platform/clock.ts";
import { sleep } from "../../platform/retry.ts";
import {
  type AssetLedger,
  type AssetProcessor,
  assetPrefix,
  type ClipMaker,
  type MediaControl,
  type MediaIndex,
  windowPrefix,
} from "../../ports/index.ts";
import { isSettled, lockAsset, moveAsset, readAssetMedia } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import { readSealedRecording } from "../recordings/index.ts";
import type { AssetRow } from "../schema.ts";
import { MAX_CLIP_MS, TOO_LONG } from "./clip-service.ts";
import { type ClipRow, findClip } from "./clip-store.ts";
import { endMsOf, FIRST_WALL_CLOCK_MS, momentAt, withTimes } from "./clip-times.ts";

export interface ClipProcessorDeps extends Deps {
  readonly events: EventLog;
  readonly mediaControl: Pick<MediaControl, "sealRecording">;
  readonly clipMaker: ClipMaker;
}

const ASK_AGAIN_MS = 250;
/** The segment that holds the end of a clip of a running stream is finished and durable by then, or it never will be. */
const MAX_WAIT_MS = 12_000;
/** And in the object store so much later. */
const MAX_PUT_MS = 10_000;

const NO_PARENT = "The media that the clip is cut from were deleted.";
const NO_WINDOW =
  "The last seconds of the broadcast could not be kept: it ended meanwhile, or too many clips were asked for at once. Try again while it is live, or record the stream.";

/** Makes the assets that are clips; all others go to `others`. */
export function clipProcessor(deps: ClipProcessorDeps, others: AssetProcessor): AssetProcessor {
  return {
    async process(assetId, ledger, signal) {
      const clip = await findClip(deps.db, assetId);
      if (!clip) return others.process(assetId, ledger, signal);
      const row = await begin(deps, assetId);
      if (row) await make(deps, row, clip, ledger, signal);
    },
  };
}

async function begin({ db, clock, events }: ClipProcessorDeps, assetId: string): Promise<AssetRow | null> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAsset(trx, assetId);
    if (!row || row.deleted_at !== null || isSettled(row.phase)) return null;
    await events.append(trx, await moveAsset(trx, row, "begin", { at: clock.now() }));
    return row;
  });
}

async function make(
  deps: ClipProcessorDeps,
  row: AssetRow,
  clip: ClipRow,
  ledger: AssetLedger,
  signal: AbortSignal,
): Promise<void> {
  const window = windowPrefix({ projectId: row.project_id, assetId: row.id });
  const parent = await (clip.is_recorded === false
    ? keptWindow(deps, window, clip, signal)
    : parentOf(deps, clip, signal));
  if (!parent) return ledger.failed(row.id, clip.is_recorded === false ? NO_WINDOW : NO_PARENT);
  const momentOf = (ms: number): number => (ms < FIRST_WALL_CLOCK_MS ? momentAt(parent, ms) : ms);
  const fromMs = momentOf(Number(clip.from_ms));
  const endMs = clip.to_ms === null ? endMsOf(parent) : momentOf(Number(clip.to_ms));
  if (endMs - fromMs > MAX_CLIP_MS) return ledger.failed(row.id, `The clip is too long: ${TOO_LONG}.`);
  const work = {
    ...{ assetId: row.id, projectId: row.project_id, parent },
    outPrefix: `${assetPrefix(row.project_id, row.id)}out/${row.attempt}/`,
    fromMs,
    toMs: clip.to_ms === null ? Number.MAX_SAFE_INTEGER : momentOf(Number(clip.to_ms)),
  };
  await deps.clipMaker.make(work, ledger, signal);
  if (clip.is_recorded === false) await deps.clipMaker.dropWindow(window);
}

/** The live window as a media node keeps it for this clip. Null where none did in time: the session was over, or its node is gone. */
async function keptWindow(
  { clock, clipMaker }: ClipProcessorDeps,
  prefix: string,
  clip: ClipRow,
  signal: AbortSignal,
): Promise<MediaIndex | null> {
  const until = endOfWait(clock, clip, MAX_WAIT_MS + MAX_PUT_MS);
  for (;;) {
    const index = await clipMaker.findWindow(prefix);
    if (index || clock.monotonic() >= until) return index;
    await sleep(clock, ASK_AGAIN_MS);
    signal.throwIfAborted();
  }
}

/** What the clip is cut from, as far as it is there; waits for what a running stream has not finished yet. Null where it is gone. */
async function parentOf(deps: ClipProcessorDeps, clip: ClipRow, signal: AbortSignal): Promise<MediaIndex | null> {
  const { db, clock, mediaControl } = deps;
  if (clip.parent_asset_id !== null) return withTimes(await readAssetMedia(db, clip.parent_asset_id));
  const sessionId = clip.session_id ?? "";
  const wantedUntil = Math.min(
    clip.to_ms === null ? Number.MAX_SAFE_INTEGER : Number(clip.to_ms),
    Number(clip.created_at),
  );
  const until = endOfWait(clock, clip, MAX_WAIT_MS);
  for (;;) {
    const index = await readSealedRecording(db, sessionId);
    const isLive = clip.ended_at === null && clock.monotonic() < until;
    if (!isLive || (index && endMsOf(index) >= wantedUntil)) return index;
    await mediaControl.sealRecording(sessionId);
    await sleep(clock, ASK_AGAIN_MS);
    signal.throwIfAborted();
  }
}

/** When a clip has waited for `ms` since it was asked for, on the monotonic clock: the time of day may be set meanwhile. */
function endOfWait(clock: Clock, { created_at }: ClipRow, ms: number): number {
  const leftMs = Number(created_at) + ms - clock.now();
  return clock.monotonic() + Math.min(ms, Math.max(0, leftMs));
}
