import type { AssetSource, PlaybackPolicy } from "@weir/contract";
import type { Principal } from "../api/index.ts";
import type { EventDeps } from "../events/index.ts";
import { newId, newPlaybackId } from "../ids.ts";
import type { AssetRow, NewAssetRow, TaskRow, Trx } from "../schema.ts";
import { insertTask } from "../tasks/index.ts";
import { assetEvent, eventOfTask } from "./asset-change.ts";

export interface AssetToCreate {
  /** Null for the name of a clip without one. */
  readonly name: string | null;
  readonly creatorId: string | null;
  readonly policy: PlaybackPolicy | null | undefined;
  readonly source: AssetSource;
  /** When an upload must have begun; null for an asset without one. */
  readonly expiresAt: number | null;
  /** What its owner wants to be made of it. */
  readonly columns?: Pick<
    NewAssetRow,
    "profiles" | "static_mp4" | "target_segment_seconds" | "keep_original" | "retention_days"
  >;
  readonly task: Pick<TaskRow, "type" | "params">;
}

/** The one way to create an asset, with the task that makes it. The events of both are appended. */
export async function createAsset(
  { clock, events }: Pick<EventDeps, "clock" | "events">,
  trx: Trx,
  principal: Principal,
  { name, creatorId, policy, source, expiresAt, columns, task }: AssetToCreate,
): Promise<AssetRow> {
  const now = clock.now();
  const id = newId();
  const playbackId = newPlaybackId(id);
  const owner = { project_id: principal.projectId, user_id: principal.userId };
  const { id: taskId } = await insertTask(trx, {
    ...owner,
    ...task,
    phase: expiresAt === null ? "waiting" : "pending",
    output_asset_id: id,
    created_at: now,
  });
  const row = await trx
    .insertInto("asset")
    .values({
      ...owner,
      ...columns,
      id,
      created_by_token_name: principal.keyName,
      name: name ?? `clip-${playbackId}`,
      creator_id: creatorId,
      playback_id: playbackId,
      playback_policy: policy ? JSON.stringify(policy) : null,
      source: JSON.stringify(source),
      task_id: taskId,
      created_at: now,
      updated_at: now,
      phase: expiresAt === null ? "waiting" : "uploading",
      upload_expires_at: expiresAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await events.append(trx, [assetEvent(row, "asset.created", now), eventOfTask(row, "task.spawned", now)]);
  return row;
}
