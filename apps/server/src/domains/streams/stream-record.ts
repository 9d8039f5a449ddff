import type { Stream, StreamStatus } from "@weir/contract";
import { counterFields } from "../counters.ts";
import { isActive } from "../live/index.ts";
import { targetStatus } from "../multistream/index.ts";
import { hidePull, pullStatus } from "../pulls/index.ts";
import type { Db, StreamRow } from "../schema.ts";
import { dvrOf } from "./stream-rules.ts";

/** A stream's row as its owner sees it; unset fields are absent. */
export function streamRecord(row: StreamRow, now: number): Stream {
  const dvr = dvrOf(row.dvr_minutes);
  return {
    id: row.id,
    kind: "stream",
    name: row.name,
    userId: row.user_id,
    projectId: row.project_id,
    ...(row.creator_id === null ? {} : { creatorId: { type: "unverified" as const, value: row.creator_id } }),
    ...(row.user_tags ? { userTags: row.user_tags } : {}),
    createdAt: Number(row.created_at),
    ...(row.created_by_token_name === null ? {} : { createdByTokenName: row.created_by_token_name }),
    streamKey: row.stream_key,
    playbackId: row.playback_id,
    ...(row.playback_policy ? { playbackPolicy: row.playback_policy } : {}),
    profiles: row.profiles,
    record: row.record,
    ...(row.recording_spec ? { recordingSpec: row.recording_spec } : {}),
    ...(dvr !== null && { dvr }),
    ...(row.slate && { slate: row.slate }),
    ...(row.retention_days === null ? {} : { retentionDays: row.retention_days }),
    multistream: {
      targets: row.targets.map((ref) => ({ ...ref, status: targetStatus(row.target_states, ref.id, ref.profile) })),
    },
    ...(row.pull ? { pull: hidePull(row.pull) } : {}),
    renditions: {},
    isActive: isActive(row.state),
    suspended: row.suspended,
    lastTerminatedAt: row.last_terminated_at === null ? null : Number(row.last_terminated_at),
    ...counterFields(row, row),
    status: statusOf(row, now),
  };
}

/** The stream without the secrets for publishing it or pulling from its source. */
export function withoutSecrets({ streamKey: _, pull: __, ...stream }: Stream): Stream {
  return stream;
}

function statusOf(row: StreamRow, now: number): StreamStatus {
  const pull = pullStatus(row, now);
  return {
    state: row.state,
    since: Number(row.state_since),
    ...(row.reconnect_until === null ? {} : { reconnectUntil: Number(row.reconnect_until) }),
    ...(row.session_id === null ? {} : { sessionId: row.session_id }),
    ...transcodingOf(row),
    ...(pull && { pull }),
    ...(row.issues && row.issues.open.length > 0 ? { issues: [...row.issues.open] } : {}),
  };
}

function transcodingOf({ transcoding }: StreamRow): Pick<StreamStatus, "transcoding" | "renditions"> {
  if (!transcoding) return {};
  const { state, reason, renditions } = transcoding;
  return { transcoding: { state, ...(reason !== undefined && { reason }) }, renditions: [...renditions] };
}

/** The current state of a stream, in any project and even if deleted; null if it does not exist. For callers who know it from one of its events. */
export async function readStream(db: Db, id: string, now: number): Promise<Stream | null> {
  const row = await db.selectFrom("stream").selectAll().where("id", "=", id).executeTakeFirst();
  return row ? streamRecord(row, now) : null;
}
