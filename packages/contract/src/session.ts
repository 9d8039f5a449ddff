import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";
import { Profile } from "./profile.ts";
import { counters, RecordingSpec } from "./stream.ts";

export const RecordingStatus = Type.Enum(["waiting", "ready", "failed", "deleted", "none"]);
export type RecordingStatus = Static<typeof RecordingStatus>;

/** One stretch of being live, across reconnects. `sourceSegmentsDuration` is its length in seconds, and its recording's. */
export const Session = Type.Object({
  id: Id,
  kind: Type.Literal("session"),
  parentId: Type.String({ description: "Id of the stream" }),
  name: Type.String(),
  playbackId: Type.String({ description: "The stream's playback id" }),
  userId: Id,
  projectId: Id,
  createdAt: Milliseconds,
  ...counters,
  profiles: Type.Array(Profile),
  record: Type.Boolean(),
  recordingSpec: Type.Optional(RecordingSpec),
  recordingStatus: Type.Optional(RecordingStatus),
  recordingUrl: Type.Optional(Type.String({ description: "HLS playlist, once the recording is ready" })),
  sourceRecordingUrl: Type.Optional(
    Type.String({ description: "The same bytes as `mp4Url`; only in `GET /api/session/{id}?sourceRecording=true`" }),
  ),
  mp4Url: Type.Optional(Type.String({ description: "Source-quality MP4, once the recording is ready" })),
  /** Additions of ours. */
  isActive: Type.Boolean(),
  endedAt: Type.Optional(Milliseconds),
  recordingDelay: Type.Optional(
    Type.String({ description: "Why a recording that is `waiting` takes longer than a minute after its session" }),
  ),
  recordingError: Type.Optional(Type.String({ description: "Why the recording failed or stopped early" })),
});
export type Session = Static<typeof Session>;

/** Body of `DELETE /api/session`. */
export const SessionIds = exact({ ids: Type.Optional(Type.Array(Id, { maxItems: 1000 })) });
export type SessionIds = Static<typeof SessionIds>;
