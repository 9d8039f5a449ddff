import { sleep } from "../../platform/retry.ts";
import {
  type AssetLedger,
  type AssetProcessor,
  assetPrefix,
  type ClipMaker,
  type MediaControl,
  type MediaIndex,
} from "../../ports/index.ts";
import { isSettled, lockAsset, moveAsset, readAssetMedia } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import { readSealedRecording } from "../recordings/index.ts";
import type { AssetRow } from "../schema.ts";
import { type ClipRow, findClip } from "./clip-store.ts";

export interface ClipProcessorDeps extends Deps {
  readonly events: EventLog;
  readonly mediaControl: Pick<MediaControl, "sealRecording">;
  readonly clipMaker: ClipMaker;
}

/** Times before 1973 count from the begin of the media. */
const FIRST_WALL_CLOCK_MS = 1e11;
const ASK_AGAIN_MS = 250;
/** The segment that holds the end of a clip of a running stream is finished and durable by then, or it never will be. */
const MAX_WAIT_MS = 12_000;

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
  const parent = await parentOf(deps, clip, signal);
  if (!parent) return ledger.failed(row.id, "The media that the clip is cut from were deleted.");
  const momentOf = (ms: number): number => (ms < FIRST_WALL_CLOCK_MS ? momentAt(parent, ms) : ms);
  const work = {
    ...{ assetId: row.id, projectId: row.project_id, parent },
    outPrefix: `${assetPrefix(row.project_id, row.id)}out/${row.attempt}/`,
    fromMs: momentOf(Number(clip.from_ms)),
    toMs: clip.to_ms === null ? Number.MAX_SAFE_INTEGER : momentOf(Number(clip.to_ms)),
  };
  await deps.clipMaker.make(work, ledger, signal);
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
  const until = Number(clip.created_at) + MAX_WAIT_MS;
  for (;;) {
    const index = await readSealedRecording(db, sessionId);
    const isLive = clip.ended_at === null && clock.now() < until;
    if (!isLive || (index && endMsOf(index) >= wantedUntil)) return index;
    await mediaControl.sealRecording(sessionId);
    await sleep(clock, ASK_AGAIN_MS);
    signal.throwIfAborted();
  }
}

/** When what a player shows `ms` after the begin of the media was: holes between segments take no time there. */
function momentAt({ renditions: [lead] }: MediaIndex, ms: number): number {
  let left = ms;
  let moment = 0;
  for (const { programDateTimeMs, durationTicks, gap } of lead?.segments ?? []) {
    if (gap) continue;
    const lasts = (durationTicks * 1000) / (lead?.track.timescale ?? 1);
    moment = programDateTimeMs + left;
    if (left < lasts) break;
    left -= lasts;
  }
  return Math.round(moment);
}

function endMsOf({ renditions }: MediaIndex): number {
  const ends = renditions.map(({ track, segments }) => {
    const last = segments.at(-1);
    return last ? last.programDateTimeMs + (last.durationTicks * 1000) / track.timescale : 0;
  });
  return Math.min(...ends);
}

/** An asset knows no time of day: its moments count from its begin. */
function withTimes(index: MediaIndex | null): MediaIndex | null {
  const lead = index?.renditions[0];
  if (!index || !lead) return index;
  const beginMs = ((lead.segments[0]?.startTicks ?? 0) * 1000) / lead.track.timescale;
  return {
    ...index,
    renditions: index.renditions.map((rendition) => ({
      ...rendition,
      segments: rendition.segments.map((segment) => ({
        ...segment,
        programDateTimeMs: Math.round((segment.startTicks * 1000) / rendition.track.timescale - beginMs),
      })),
    })),
  };
}
