import type { Asset, CreatedClip, NewClip } from "@weir/contract";
import { sql } from "kysely";
import type { MediaControl } from "../../ports/index.ts";
import { checkPolicy, type FindAccessWebhook } from "../access-control/index.ts";
import { NotFound, type Principal } from "../api/index.ts";
import { assetEvent, assetRecord, insertAsset, projectRoom, taskEvent } from "../assets/index.ts";
import type { Deps } from "../deps.ts";
import type { EventLog } from "../events/index.ts";
import { newId, newPlaybackId } from "../ids.ts";
import type { Owner } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import { ImpossibleClip, TooManyClips } from "./clip-errors.ts";
import {
  type ClipParent,
  type ClipsOf,
  countClipsInWork,
  findClipParent,
  findClipsOf,
  hasPlaybackId,
  listClipsOf,
  lockClipsOf,
} from "./clip-store.ts";
import { FIRST_WALL_CLOCK_MS } from "./clip-times.ts";

export interface ClipServiceDeps extends Deps, Pick<DomainConfig, "assetBytesPerProject"> {
  readonly events: EventLog;
  readonly findAccessWebhook: FindAccessWebhook;
  readonly mediaControl: Pick<MediaControl, "keepWindow">;
  queueProcessing(asset: { readonly id: string; readonly project_id: string }): Promise<void>;
}

/** Each of its bytes is copied. */
export const MAX_CLIP_MS = 4 * 3_600_000;
const MAX_IN_WORK = 5;
const WINDOW_MS = 300_000;

export const TOO_LONG = `a clip may last ${MAX_CLIP_MS / 3_600_000} hours: name a startTime and an endTime that are closer`;

/** The rules of clips. A clip is an asset that is cut from a recording or from another asset. */
export class ClipService {
  readonly #deps: ClipServiceDeps;

  constructor(deps: ClipServiceDeps) {
    this.#deps = deps;
  }

  async create(principal: Principal, input: NewClip, publicUrl: string): Promise<CreatedClip> {
    const { db, clock, events, findAccessWebhook, mediaControl, queueProcessing, assetBytesPerProject } = this.#deps;
    const { startTime, endTime } = input;
    if (endTime !== undefined && endTime <= startTime) throw new ImpossibleClip("endTime must occur after startTime");
    if (endTime !== undefined && endTime - startTime > MAX_CLIP_MS) throw new ImpossibleClip(TOO_LONG);
    if ((await projectRoom(db, principal.projectId, assetBytesPerProject)) === 0)
      throw new ImpossibleClip("the project has no room for a clip: delete assets or recordings, or ask for more");
    const parent = await this.#parentOf(principal, input);
    await checkPolicy(findAccessWebhook, principal.projectId, input.playbackPolicy);
    const now = clock.now();

    const id = newId();
    const playbackId = newPlaybackId(id);
    const sessionId = parent.kind === "session" ? parent.id : null;
    const strategy = { playbackId: parent.playbackId, startTime, ...(endTime !== undefined && { endTime }) };
    const policy = input.playbackPolicy === undefined ? parent.policy : input.playbackPolicy;
    const row = await db.transaction().execute(async (trx) => {
      // One after the other, so that requests of the same moment are counted too.
      await lockClipsOf(trx, principal);
      if ((await countClipsInWork(trx, principal, now - WINDOW_MS)) >= MAX_IN_WORK) throw new TooManyClips();
      const asset = await insertAsset(
        trx,
        {
          ...{
            id,
            project_id: principal.projectId,
            user_id: principal.userId,
            created_by_token_name: principal.keyName,
          },
          ...{ name: input.name ?? `clip-${playbackId}`, creator_id: parent.creatorId, playback_id: playbackId },
          playback_policy: policy ? JSON.stringify(policy) : null,
          source: JSON.stringify({
            ...{ type: "clip", playbackId: parent.playbackId },
            ...(sessionId ? { sessionId } : { assetId: parent.id }),
          }),
          ...{ profiles: null, static_mp4: null, target_segment_seconds: null, task_id: newId() },
          ...{ created_at: now, updated_at: now, phase: "waiting", upload_expires_at: null },
        },
        { clip: { clipStrategy: strategy, ...(sessionId && { sessionId }), inputId: parent.id } },
        "clip",
      );
      await sql`
        insert into clip (asset_id, project_id, stream_id, session_id, parent_asset_id, from_ms, to_ms, created_at)
        values (${id}, ${principal.projectId}, ${parent.streamId}, ${sessionId}, ${sessionId ? null : parent.id},
          ${startTime}, ${endTime ?? null}, ${now})`.execute(trx);
      await events.append(trx, [assetEvent(asset, "asset.created", now), taskEvent(asset, "task.spawned", now)]);
      return asset;
    });
    // At once, however long the job waits for its turn: the window goes on.
    if (parent.cutFrom === "live-window") {
      const toMs = Math.min(endTime ?? now, now);
      await mediaControl.keepWindow({
        ...{ sessionId: parent.id, projectId: principal.projectId, assetId: id, fromMs: startTime, toMs },
      });
    }
    await queueProcessing(row);
    return { asset: assetRecord(row, { publicUrl, details: true }), task: { id: row.task_id } };
  }

  /** Clips of what an id or playback id means. Throws `NotFound` with `text`. */
  async list(
    owner: Owner,
    id: string,
    publicUrl: string,
    { only, text }: { only?: ClipsOf; text: string },
  ): Promise<Asset[]> {
    const found = await findClipsOf(this.#deps.db, owner, id);
    if (!found || (only && found.of !== only)) throw new NotFound(text);
    const rows = await listClipsOf(this.#deps.db, owner, found.of, found.id);
    return rows.map((row) => assetRecord(row, { publicUrl, details: false }));
  }

  async #parentOf(owner: Owner, { playbackId, sessionId, startTime }: NewClip): Promise<ClipParent> {
    const { db } = this.#deps;
    const parent = await findClipParent(db, owner, playbackId, sessionId);
    if (!parent) {
      const isStream = await hasPlaybackId(db, owner, playbackId);
      if (isStream && sessionId === undefined)
        throw new ImpossibleClip("this stream was never live: there is nothing to cut a clip from");
      throw new NotFound(isStream ? "Session not found" : "Content not found");
    }
    if (parent.cutFrom === null)
      throw new ImpossibleClip(
        parent.kind === "session"
          ? "this session is over and was not recorded: set record to true before the broadcast, or cut the clip while it is live"
          : "this asset cannot be played yet",
      );
    if (parent.cutFrom === "live-window" && startTime < FIRST_WALL_CLOCK_MS)
      throw new ImpossibleClip(
        "this session is not recorded, so clips are cut from its last seconds: give startTime in milliseconds since the Unix epoch",
      );
    return parent;
  }
}
