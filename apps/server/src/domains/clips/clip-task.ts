import { StoreFailed } from "../../platform/storage/store-failed.ts";
import {
  type ClipMaker,
  type MadeMedia,
  type MediaControl,
  type StoreAnswer,
  TaskFailed,
  type TaskRun,
  windowPrefix,
} from "../../ports/index.ts";
import { type AssetTask, type AssetTaskDeps, mediaTask, outPrefixOf, readAssetMedia } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import type { AssetRow } from "../schema.ts";
import { MAX_CLIP_MS, TOO_LONG } from "./clip-service.ts";
import { type ClipSource, recordedSource, sourceIn } from "./clip-source.ts";
import { type ClipRow, findClip } from "./clip-store.ts";
import { momentsOf, withTimes } from "./clip-times.ts";

export interface ClipTaskDeps extends Deps, AssetTaskDeps {
  readonly mediaControl: Pick<MediaControl, "storeMoments">;
  readonly clipMaker: ClipMaker;
}

const NO_PARENT = "The media that the clip is cut from were deleted.";
const NO_WINDOW =
  "The last seconds of the broadcast could not be kept: it ended meanwhile, or too many clips were asked for at once. Try again while it is live, or record the stream.";

/** Makes the assets that are clips. */
export function clipTask(deps: ClipTaskDeps): AssetTask<MadeMedia> {
  const media = mediaTask("make-clip", deps);
  return {
    ...media,
    run: (row, run) => make(deps, row, run),
    async ended(row, how) {
      await media.ended(row);
      // A retry of a failed clip needs it.
      if (how === "completed") await deps.clipMaker.dropWindow(windowOf(row));
    },
  };
}

async function make(deps: ClipTaskDeps, row: AssetRow, run: TaskRun): Promise<MadeMedia> {
  const clip = await findClip(deps.db, row.id);
  if (!clip) throw new TaskFailed(NO_PARENT, { isFinal: true });
  const source = await sourceOf(deps, row, clip, run.signal);
  if (!source) throw new TaskFailed(clip.recording === "none" ? NO_WINDOW : NO_PARENT, { isFinal: true });
  const { parent, fromMs, toMs, endMs } = source;
  if (Math.min(toMs, endMs) - fromMs > MAX_CLIP_MS)
    throw new TaskFailed(`The clip is too long: ${TOO_LONG}.`, { isFinal: true });
  const work = { assetId: row.id, projectId: row.project_id, outPrefix: outPrefixOf(row), parent, fromMs, toMs };
  return deps.clipMaker.make(work, run);
}

/** The next run asks again. */
const notStored = (row: AssetRow): StoreFailed =>
  new StoreFailed("write", windowOf(row), { error: new Error("it did not take what a clip shows in time") });

const windowOf = ({ id, project_id: projectId }: AssetRow): string => windowPrefix({ projectId, assetId: id });

/** Null where there is nothing to cut from: the parent was deleted, or its last seconds could not be kept. */
async function sourceOf(
  deps: ClipTaskDeps,
  row: AssetRow,
  clip: ClipRow,
  signal: AbortSignal,
): Promise<ClipSource | null> {
  const { db, clipMaker } = deps;
  const { session_id: sessionId, parent_asset_id: assetId, recording } = clip;
  if (assetId !== null) return sourceIn(withTimes(await readAssetMedia(db, assetId)), clip);
  if (sessionId === null) return null;
  if (recording === "none") {
    const answer = await store(deps, row, sessionId, clip, signal);
    const window = await clipMaker.findWindow(windowOf(row));
    if (!window && answer === "failed") throw notStored(row);
    return sourceIn(window, clip);
  }
  // A recording that is ready is in the object store as a whole.
  const answer = recording === "waiting" ? await store(deps, row, sessionId, clip, signal) : "stored";
  const source = await recordedSource(db, sessionId, clip);
  // The recording has it, and the store will.
  if (answer === "failed" && source && !(await source.isSealed())) throw notStored(row);
  return source;
}

/** Has the media floor put what the clip shows into the object store. Where it cannot, the clip is made of what is there. */
async function store(
  { mediaControl, log }: ClipTaskDeps,
  { id: assetId, project_id: projectId }: AssetRow,
  sessionId: string,
  { from_ms, to_ms, created_at }: ClipRow,
  signal: AbortSignal,
): Promise<StoreAnswer | null> {
  const times = { fromMs: Number(from_ms), toMs: to_ms === null ? null : Number(to_ms), askedAt: Number(created_at) };
  const moments = momentsOf({ assetId, projectId, sessionId }, times);
  const stopped = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
  const answer = await Promise.race([mediaControl.storeMoments(moments), stopped]);
  signal.throwIfAborted();
  if (answer !== "stored") log.info({ assetId, sessionId, answer }, "a clip is made without the media process");
  return answer;
}
