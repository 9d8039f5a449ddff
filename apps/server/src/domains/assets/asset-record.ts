import type { Asset } from "@weir/contract";
import type { LeftOutTracks } from "../../ports/index.ts";
import { isId } from "../ids.ts";
import type { AssetRow, Db } from "../schema.ts";
import { withoutQuery } from "../tasks/index.ts";
import { isSettled } from "./asset-status.ts";

export interface AssetView {
  /** The base URL of this server for viewers, without a trailing slash. */
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

/** Whether the original file can be downloaded. */
export const hasOriginal = (row: Pick<AssetRow, "phase" | "keep_original" | "source_key">): boolean =>
  row.phase === "ready" && row.keep_original === true && row.source_key !== null;

function videoSpecOf(
  { tracks, leftOut: _, ...spec }: NonNullable<AssetRow["video_spec"]>,
  details: boolean,
): NonNullable<Asset["videoSpec"]> {
  return details ? { ...spec, tracks: tracks.map((track) => ({ ...track })) } : spec;
}

/** The asset for a reader who may not see its signed source URL. */
export function withoutSecrets(asset: Asset): Asset {
  const { source } = asset;
  return source.type === "url" ? { ...asset, source: { ...source, url: withoutQuery(source.url) } } : asset;
}

/** An asset for its webhooks, deleted or not, without secrets; null once its row is gone. */
export async function readAsset(db: Db, id: string, publicUrl: string): Promise<Asset | null> {
  const row = isId(id) && (await db.selectFrom("asset").selectAll().where("id", "=", id).executeTakeFirst());
  return row ? withoutSecrets(assetRecord(row, { publicUrl, details: true })) : null;
}

const LEFT_OUT = {
  audio: { name: "audio track", why: "an asset plays one audio track" },
  captions: { name: "caption track", why: "assets have no captions yet" },
} as const;

/** The warning for the owner of a file with tracks that no rendition has. */
function leftOutSentence({ type, count, languages }: LeftOutTracks): string {
  const { name, why } = LEFT_OUT[type];
  const which = languages.length > 0 ? ` (${languages.join(", ")})` : "";
  const [found, them] = count === 1 ? [`a further ${name}`, "it"] : [`${count} further ${name}s`, "them"];
  return `The file has ${type === "captions" ? found.replace("further ", "") : found}${which}. Weir left ${them} out: ${why}.`;
}
