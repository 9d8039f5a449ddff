import type { CreatedClip, NewClip, PlaybackPolicy } from "@weir/contract";
import type { ClipMoments, MediaControl } from "../../ports/index.ts";
import { checkPolicy, type FindAccessWebhook } from "../access-control/index.ts";
import { ApiError, NotFound, type Principal } from "../api/index.ts";
import { type AssetToCreate, assetRecord, createAsset, projectRoom } from "../assets/index.ts";
import type { EventDeps } from "../events/index.ts";
import type { Db, Owner } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import type { QueueTask } from "../tasks/index.ts";
import {
  type ClipParent,
  countClipsInWork,
  findClipParent,
  hasPlaybackId,
  insertClip,
  lockClipsOf,
} from "./clip-store.ts";
import { FIRST_WALL_CLOCK_MS, momentsOf } from "./clip-times.ts";

export interface ClipDeps extends EventDeps, Pick<DomainConfig, "assetBytesPerProject"> {
  readonly findAccessWebhook: FindAccessWebhook;
  readonly mediaControl: Pick<MediaControl, "storeMoments">;
  readonly queueTask: QueueTask;
}

/** Bounded, because every byte of a clip is copied. */
export const MAX_CLIP_MS = 4 * 3_600_000;
const MAX_IN_WORK = 5;
const WINDOW_MS = 300_000;

export const TOO_LONG = `a clip may last ${MAX_CLIP_MS / 3_600_000} hours: name a startTime and an endTime that are closer`;

/** The body is valid, but no clip can be made of it. */
const impossibleClip = (why: string) => new ApiError(422, "impossible-clip", why);

/** A clip is an asset that is cut from a recording or from another asset. */
export async function createClip(
  deps: ClipDeps,
  principal: Principal,
  input: NewClip,
  publicUrl: string,
): Promise<CreatedClip> {
  const { db, clock, findAccessWebhook, queueTask, assetBytesPerProject } = deps;
  const { startTime, endTime } = input;
  if (endTime !== undefined && endTime <= startTime) throw impossibleClip("endTime must occur after startTime");
  if (endTime !== undefined && endTime - startTime > MAX_CLIP_MS) throw impossibleClip(TOO_LONG);
  if ((await projectRoom(db, principal.projectId, assetBytesPerProject)) === 0)
    throw impossibleClip("the project has no room for a clip: delete assets or recordings, or ask for more");
  const parent = await parentOf(db, principal, input);
  await checkPolicy(findAccessWebhook, principal.projectId, input.playbackPolicy);
  const now = clock.now();

  const policy = input.playbackPolicy === undefined ? parent.policy : input.playbackPolicy;
  const row = await db.transaction().execute(async (trx) => {
    // One after the other, so that concurrent requests are counted too.
    await lockClipsOf(trx, principal);
    if ((await countClipsInWork(trx, principal, now - WINDOW_MS)) >= MAX_IN_WORK)
      throw new ApiError(403, "too-many-clips", "Too many clips are being processed.");
    const asset = await createAsset(deps, trx, principal, clipAsset(parent, input, policy));
    await insertClip(trx, asset, { parent, startTime, endTime });
    return asset;
  });
  if (parent.cutFrom === "live-window") {
    const clip = { assetId: row.id, projectId: principal.projectId, sessionId: parent.id };
    keepWindow(deps, momentsOf(clip, { fromMs: startTime, toMs: endTime ?? null, askedAt: now }));
  }
  await queueTask("make-clip", row);
  return { asset: assetRecord(row, { publicUrl, details: true }), task: { id: row.task_id } };
}

/** At once, however long the job waits for its turn: the window goes on. The job asks for the answer. */
function keepWindow({ mediaControl, log }: ClipDeps, moments: ClipMoments): void {
  const { assetId } = moments;
  mediaControl
    .storeMoments(moments)
    .catch((error: unknown) => log.warn({ err: error, assetId }, "could not ask for a live window to be kept"));
}

async function parentOf(db: Db, owner: Owner, { playbackId, sessionId, startTime }: NewClip): Promise<ClipParent> {
  const parent = await findClipParent(db, owner, playbackId, sessionId);
  if (!parent) {
    const isStream = await hasPlaybackId(db, owner, playbackId);
    if (isStream && sessionId === undefined)
      throw impossibleClip("this stream was never live: there is nothing to cut a clip from");
    throw new NotFound(isStream ? "Session not found" : "Content not found");
  }
  if (parent.cutFrom === null)
    throw impossibleClip(
      parent.kind === "session"
        ? "this session is over and was not recorded: set record to true before the broadcast, or cut the clip while it is live"
        : "this asset cannot be played yet",
    );
  if (parent.cutFrom === "live-window" && startTime < FIRST_WALL_CLOCK_MS)
    throw impossibleClip(
      "this session is not recorded, so clips are cut from its last seconds: give startTime in milliseconds since the Unix epoch",
    );
  return parent;
}

function clipAsset(
  { kind, id, playbackId, creatorId }: ClipParent,
  { name, startTime, endTime }: NewClip,
  policy: PlaybackPolicy | null,
): AssetToCreate {
  const sessionId = kind === "session" ? { sessionId: id } : {};
  const clipStrategy = { playbackId, startTime, ...(endTime !== undefined && { endTime }) };
  return {
    name: name ?? null,
    creatorId,
    policy,
    source: { type: "clip", playbackId, ...(kind === "session" ? { sessionId: id } : { assetId: id }) },
    expiresAt: null,
    task: { type: "clip", params: { clip: { clipStrategy, ...sessionId, inputId: id } } },
  };
}
