import type { Asset, Task } from "@weir/contract";
import type { AssetRow, TaskRow } from "../schema.ts";
import { isSettled } from "./asset-status.ts";
import { leftOutSentence } from "./left-out-sentence.ts";

export interface AssetView {
  /** Where viewers reach this server, without a slash at the end. */
  readonly publicUrl: string;
  /** With the tracks of the file; lists leave them out. */
  readonly details: boolean;
}

/** An asset's row as the API shows it. Unset fields are absent. */
export function assetRecord(row: AssetRow, { publicUrl, details }: AssetView): Asset {
  const { video_spec: spec } = row;
  const base = `${publicUrl}/asset/hls/${row.playback_id}`;
  return {
    id: row.id,
    ...(spec ? { type: spec.tracks.some(({ type }) => type === "video") ? "video" : "audio" } : {}),
    playbackId: row.playback_id,
    userId: row.user_id,
    projectId: row.project_id,
    name: row.name,
    createdAt: Number(row.created_at),
    ...(row.created_by_token_name === null ? {} : { createdByTokenName: row.created_by_token_name }),
    ...(row.creator_id === null ? {} : { creatorId: { type: "unverified" as const, value: row.creator_id } }),
    source: row.source,
    ...(row.profiles ? { profiles: row.profiles } : {}),
    ...(row.static_mp4 === null ? {} : { staticMp4: row.static_mp4 }),
    ...(row.keep_original === null ? {} : { keepOriginal: row.keep_original }),
    ...(row.retention_days === null ? {} : { retentionDays: row.retention_days }),
    status: {
      phase: row.deleted_at === null ? row.phase : "deleting",
      updatedAt: Number(row.updated_at),
      ...(isSettled(row.phase) || row.progress === 0 ? {} : { progress: row.progress }),
      ...(row.error === null ? {} : { errorMessage: row.error }),
      isPlayable: row.playable_at !== null && row.deleted_at === null,
      ...(row.purge_at === null ? {} : { purgeAt: Number(row.purge_at) }),
    },
    ...(row.size === null ? {} : { size: Number(row.size) }),
    ...(row.hash ? { hash: row.hash } : {}),
    ...(spec ? { videoSpec: videoSpecOf(spec, details) } : {}),
    ...(spec?.leftOut ? { warnings: spec.leftOut.map(leftOutSentence) } : {}),
    ...(row.playback_policy ? { playbackPolicy: row.playback_policy } : {}),
    ...(row.playable_at === null ? {} : { playbackUrl: `${base}/index.m3u8` }),
    ...(row.phase === "ready" ? { downloadUrl: `${base}/${hasOriginal(row) ? "original" : "staticsource.mp4"}` } : {}),
  };
}

/** Whether the file that came can be downloaded as it came. */
export const hasOriginal = (row: Pick<AssetRow, "phase" | "keep_original" | "source_key">): boolean =>
  row.phase === "ready" && row.keep_original === true && row.source_key !== null;

function videoSpecOf(
  { tracks, leftOut: _, ...spec }: NonNullable<AssetRow["video_spec"]>,
  details: boolean,
): NonNullable<Asset["videoSpec"]> {
  return details ? { ...spec, tracks: tracks.map((track) => ({ ...track })) } : spec;
}

export function taskRecord(row: TaskRow): Task {
  return {
    id: row.id,
    type: row.type,
    createdAt: Number(row.created_at),
    ...(row.scheduled_at === null ? {} : { scheduledAt: Number(row.scheduled_at) }),
    ...(row.input_asset_id === null ? {} : { inputAssetId: row.input_asset_id }),
    ...(row.output_asset_id === null ? {} : { outputAssetId: row.output_asset_id }),
    projectId: row.project_id,
    requesterId: row.user_id,
    params: row.params,
    status: {
      phase: row.phase,
      updatedAt: Number(row.updated_at),
      ...(row.phase === "running" ? { progress: row.progress } : {}),
      ...(row.error === null ? {} : { errorMessage: row.error }),
      ...(row.retries > 0 ? { retries: row.retries } : {}),
    },
    ...(row.output ? { output: row.output } : {}),
  };
}
