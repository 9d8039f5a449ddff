import { sleep } from "../../platform/retry.ts";
import {
  type AssetLedger,
  type AssetProcessor,
  assetPrefix,
  type ClipMaker,
  type MediaControl,
  windowPrefix,
} from "../../ports/index.ts";
import { isSettled, lockAsset, moveAsset, readAssetMedia } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import type { AssetRow } from "../schema.ts";
import { MAX_CLIP_MS, TOO_LONG } from "./clip-service.ts";
import { type ClipSource, sourceIn } from "./clip-source.ts";
import { type ClipRow, findClip } from "./clip-store.ts";
import { withTimes } from "./clip-times.ts";
import { ASK_AGAIN_MS, endOfWait, MAX_PUT_MS, MAX_WAIT_MS } from "./clip-wait.ts";
import { recordedSource } from "./recorded-source.ts";

export interface ClipProcessorDeps extends Deps {
  readonly events: EventLog;
  readonly mediaControl: Pick<MediaControl, "sealRecording">;
  readonly clipMaker: ClipMaker;
}

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
  const source = await (clip.is_recorded === false
    ? keptWindow(deps, window, clip, signal)
    : sourceOf(deps, clip, signal));
  if (!source) return ledger.failed(row.id, clip.is_recorded === false ? NO_WINDOW : NO_PARENT);
  const { parent, fromMs, toMs, endMs } = source;
  if (Math.min(toMs, endMs) - fromMs > MAX_CLIP_MS) return ledger.failed(row.id, `The clip is too long: ${TOO_LONG}.`);
  const work = {
    ...{ assetId: row.id, projectId: row.project_id, parent, fromMs, toMs },
    outPrefix: `${assetPrefix(row.project_id, row.id)}out/${row.attempt}/`,
  };
  await deps.clipMaker.make(work, ledger, signal);
  if (clip.is_recorded === false) await deps.clipMaker.dropWindow(window);
}

async function sourceOf(deps: ClipProcessorDeps, clip: ClipRow, signal: AbortSignal): Promise<ClipSource | null> {
  if (clip.parent_asset_id === null) return recordedSource(deps, clip, signal);
  return sourceIn(withTimes(await readAssetMedia(deps.db, clip.parent_asset_id)), clip);
}

/** The live window as a media node keeps it for this clip. Null where none did in time: the session was over, or its node is gone. */
async function keptWindow(
  { clock, clipMaker }: ClipProcessorDeps,
  prefix: string,
  clip: ClipRow,
  signal: AbortSignal,
): Promise<ClipSource | null> {
  const until = endOfWait(clock, clip, MAX_WAIT_MS + MAX_PUT_MS);
  for (;;) {
    const index = await clipMaker.findWindow(prefix);
    if (index || clock.monotonic() >= until) return sourceIn(index, clip);
    await sleep(clock, ASK_AGAIN_MS);
    signal.throwIfAborted();
  }
}
