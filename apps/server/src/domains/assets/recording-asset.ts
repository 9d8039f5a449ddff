import type { Asset } from "@weir/contract";
import { sql } from "kysely";
import { isId } from "../ids.ts";
import type { Db, Owner, SessionRow, StreamRow } from "../schema.ts";
import { type AssetView, assetRecord } from "./asset-record.ts";
import { findAsset } from "./asset-store.ts";

type RecordingRow = Pick<
  SessionRow,
  | "id"
  | "project_id"
  | "user_id"
  | "created_at"
  | "ended_at"
  | "last_seen"
  | "recording"
  | "recording_playback_id"
  | "recording_error"
  | "mp4_bytes"
  | "source_segments_duration"
> & { policy: StreamRow["playback_policy"]; creator_id: string | null };

/** An asset of the project, or the recording of a session as one. Null if unknown or deleted. */
export async function findAssetRecord(db: Db, owner: Owner, id: string, view: AssetView): Promise<Asset | null> {
  const row = await findAsset(db, owner, id);
  return row ? assetRecord(row, view) : findRecordingAsset(db, owner, id, view.publicUrl);
}

/** The recording of a session as an asset, by the session's id: webhooks call it `assetId`. Null if unknown or deleted. */
async function findRecordingAsset(db: Db, owner: Owner, id: string, publicUrl: string): Promise<Asset | null> {
  if (!isId(id)) return null;
  const { rows } = await sql<RecordingRow>`
    select e.id, e.project_id, e.user_id, e.created_at, e.ended_at, e.last_seen, e.recording, e.recording_playback_id, e.recording_error,
      e.mp4_bytes, e.source_segments_duration, s.playback_policy as policy, s.creator_id
    from session e join stream s on s.id = e.stream_id
    where e.id = ${id} and e.project_id = ${owner.projectId} and e.recording in ('waiting', 'ready', 'failed')`.execute(
    db,
  );
  const [row] = rows;
  return row ? recordOf(row, publicUrl) : null;
}

function recordOf(row: RecordingRow, publicUrl: string): Asset {
  const isReady = row.recording === "ready";
  const base = `${publicUrl}/asset/hls/${row.recording_playback_id}`;
  return {
    id: row.id,
    playbackId: row.recording_playback_id ?? "",
    userId: row.user_id,
    projectId: row.project_id,
    name: `live-${new Date(Number(row.created_at)).toISOString().slice(0, "2026-01-01T00:00".length)}Z`,
    createdAt: Number(row.created_at),
    ...(row.creator_id === null ? {} : { creatorId: { type: "unverified" as const, value: row.creator_id } }),
    source: { type: "recording", sessionId: row.id },
    status: {
      phase: isReady ? "ready" : row.recording === "failed" ? "failed" : "waiting",
      updatedAt: Number(row.ended_at ?? row.last_seen),
      ...(row.recording_error === null ? {} : { errorMessage: row.recording_error }),
      isPlayable: isReady,
    },
    ...(row.mp4_bytes === null ? {} : { size: Number(row.mp4_bytes) }),
    ...(isReady ? { videoSpec: { format: "mp4", duration: row.source_segments_duration } } : {}),
    ...(row.policy ? { playbackPolicy: row.policy } : {}),
    ...(isReady ? { playbackUrl: `${base}/index.m3u8`, downloadUrl: `${base}/staticsource.mp4` } : {}),
  };
}
