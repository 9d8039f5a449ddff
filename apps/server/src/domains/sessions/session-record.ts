import type { Session } from "@weir/contract";
import { counterFields } from "../counters.ts";
import type { SessionRow } from "../schema.ts";

export interface SessionWithParent extends SessionRow {
  stream_playback_id: string;
}

/** A session's row as the API shows it. `publicUrl` is where viewers reach this server, without a slash at the end. */
export function sessionRecord(row: SessionWithParent, publicUrl: string): Session {
  const base = `${publicUrl}/asset/hls/${row.recording_playback_id}`;
  return {
    id: row.id,
    kind: "session",
    parentId: row.stream_id,
    name: row.name,
    playbackId: row.stream_playback_id,
    userId: row.user_id,
    projectId: row.project_id,
    createdAt: Number(row.created_at),
    ...counterFields(row),
    profiles: row.profiles,
    record: row.record,
    ...(row.recording_spec ? { recordingSpec: row.recording_spec } : {}),
    ...(row.record ? { recordingStatus: row.recording } : {}),
    ...(row.recording === "ready" ? { recordingUrl: `${base}/index.m3u8`, mp4Url: `${base}/staticsource.mp4` } : {}),
    isActive: row.ended_at === null,
    ...(row.ended_at === null ? {} : { endedAt: Number(row.ended_at) }),
    ...(row.recording_error === null ? {} : { recordingError: row.recording_error }),
  };
}
