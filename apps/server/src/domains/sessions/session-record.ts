import type { Session } from "@weir/contract";
import { counterFields } from "../counters.ts";
import type { SessionRow, StreamRow } from "../schema.ts";

export interface SessionWithParent extends SessionRow {
  stream_playback_id: string;
  stream_policy: StreamRow["playback_policy"];
  stream_state: StreamRow["state"];
  stream_issues: StreamRow["issues"];
  stream_transcoding: StreamRow["transcoding"];
  stream_target_states: StreamRow["target_states"];
}

export interface SessionView {
  /** The base URL of this server for viewers, without a trailing slash. */
  readonly publicUrl: string;
  /** Show the recording's URL before it is ready. */
  readonly forceUrl?: boolean;
  readonly sourceRecording?: boolean;
}

/** A recording becomes durable some seconds after its end. If it takes a minute, the response explains why. */
const DELAYED_MS = 60_000;
const DELAY =
  "The object store does not take the end of the recording yet. It is kept on the server's disk and retried.";

function isDelayed({ recording, ended_at: endedAt, spooled_at: spooledAt }: SessionWithParent): boolean {
  if (recording !== "waiting" || endedAt === null || spooledAt === null) return false;
  return Number(spooledAt) - Number(endedAt) >= DELAYED_MS;
}

/** A session's row as the API shows it. */
export function sessionRecord(row: SessionWithParent, view: SessionView): Session {
  const { publicUrl, forceUrl = false, sourceRecording = false } = view;
  const isShown = row.recording === "ready" || (forceUrl && row.recording === "waiting");
  const { stream_state: state, stream_issues: issues, stream_transcoding: transcoding, ingest_rate, profiles } = row;
  const isNow = row.ended_at === null;
  const now = isNow
    ? { state, issues, transcoding, ingest_rate, profiles, target_states: row.stream_target_states }
    : null;
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
    ...counterFields(row, now),
    profiles: row.profiles,
    record: row.record,
    ...(row.recording_spec ? { recordingSpec: row.recording_spec } : {}),
    ...(row.record ? { recordingStatus: row.recording } : {}),
    ...(isShown ? { recordingUrl: `${base}/index.m3u8`, mp4Url: `${base}/staticsource.mp4` } : {}),
    ...(isShown && sourceRecording ? { sourceRecordingUrl: `${base}/staticsource.mp4` } : {}),
    ...(row.stream_policy ? { playbackPolicy: row.stream_policy } : {}),
    isActive: row.ended_at === null,
    ...(row.ended_at === null ? {} : { endedAt: Number(row.ended_at) }),
    ...(isDelayed(row) ? { recordingDelay: DELAY } : {}),
    ...(row.recording_error === null ? {} : { recordingError: row.recording_error }),
  };
}
