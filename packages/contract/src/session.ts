import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";
import { PlaybackPolicy } from "./playback-policy.ts";
import { Profile } from "./profile.ts";
import { counters, Nullable, RecordingSpec } from "./stream.ts";

export const RecordingStatus = Type.Enum(["waiting", "ready", "failed", "deleted", "none"]);
export type RecordingStatus = Static<typeof RecordingStatus>;

/** One broadcast, across reconnects. `sourceSegmentsDuration` is the length of the session and of its recording, in seconds. */
export const Session = Type.Object({
  id: Id,
  kind: Type.Literal("session"),
  parentId: Type.String({ description: "Stream id" }),
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
  /** Weir additions. */
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
  isActive: Type.Boolean(),
  endedAt: Type.Optional(Milliseconds),
  recordingDelay: Type.Optional(
    Type.String({ description: "The reason why a `waiting` recording takes more than a minute after its session" }),
  ),
  recordingError: Type.Optional(Type.String({ description: "The reason why the recording failed or is incomplete" })),
});
export type Session = Static<typeof Session>;

/** Body of `DELETE /api/session`. */
export const SessionIds = exact({ ids: Type.Optional(Type.Array(Id, { maxItems: 1000 })) });
export type SessionIds = Static<typeof SessionIds>;
