import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";
import { PlaybackPolicy } from "./playback-policy.ts";
import { Profile, TranscodeProfile } from "./profile.ts";

export const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** The customer's own name for whoever made a thing. */
export const CreatorId = exact({ type: Type.Literal("unverified"), value: Type.String({ maxLength: 500 }) });
export type CreatorId = Static<typeof CreatorId>;

export const InputCreatorId = Type.Union([Type.String({ maxLength: 500 }), CreatorId]);

type UserTag = string | number | (string | number)[];

const tagValues = [{ type: "string" }, { type: "number" }];

/** Free key-value tags, at most 2048 characters as JSON. */
export const UserTags = Type.Unsafe<Record<string, UserTag>>({
  type: "object",
  additionalProperties: { anyOf: [...tagValues, { type: "array", items: { anyOf: tagValues } }] },
});

/** One place that a stream is forwarded to: by `id` of a target, or by a `spec` that becomes a target. */
export const NewTargetRef = exact({
  profile: Type.String({ minLength: 1, maxLength: 500, description: "Name of a profile, or `source`" }),
  videoOnly: Type.Optional(Type.Boolean()),
  id: Type.Optional(Type.String({ maxLength: 100 })),
  spec: Type.Optional(
    exact({
      name: Type.Optional(Type.String({ maxLength: 500 })),
      url: Type.String({ maxLength: 2048, pattern: "^(srt|rtmps?)://", description: "Write-only" }),
    }),
  ),
  status: Type.Optional(Type.Unknown({ description: "As a stream shows it; ignored" })),
});
export type NewTargetRef = Static<typeof NewTargetRef>;

/** A target as a stream keeps it; its address is never shown. */
export const TargetRef = Type.Object({ profile: Type.String(), videoOnly: Type.Optional(Type.Boolean()), id: Id });
export type TargetRef = Static<typeof TargetRef>;

/** How a stream's target is doing (an addition of ours). */
export const TargetStatus = Type.Object({
  state: Type.Enum(["Idle", "Pending", "Online", "Offline"], {
    description: "Idle: no broadcast, or a disabled target. Offline: given up until the next broadcast",
  }),
  since: Type.Optional(Milliseconds),
  reason: Type.Optional(Type.String({ description: "Why it is not online; a target's own words are among it" })),
});
export type TargetStatus = Static<typeof TargetStatus>;

const ShownTarget = Type.Object({ ...TargetRef.properties, status: TargetStatus });

const NewMultistream = exact({ targets: Type.Array(NewTargetRef, { maxItems: 100 }) });

export const RecordingSpec = exact({
  profiles: Type.Optional(Nullable(Type.Array(TranscodeProfile, { maxItems: 32 }))),
});
export type RecordingSpec = Static<typeof RecordingSpec>;

/** Where the server fetches a stream from, instead of being sent it. */
export const Pull = exact({
  source: Type.String({ minLength: 1, maxLength: 2048 }),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string>>({ type: "object", additionalProperties: { type: "string" } }),
  ),
  isMobile: Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: 2 }), Type.Boolean()])),
  location: Type.Optional(
    exact({ lat: Type.Number({ minimum: -90, maximum: 90 }), lon: Type.Number({ minimum: -180, maximum: 180 }) }),
  ),
});
export type Pull = Static<typeof Pull>;

/** An addition of ours. */
export const RetentionDays = Type.Integer({
  minimum: 1,
  maximum: 36_500,
  description: "Days that it is kept; as long as the server's setting says where unset",
});

const writable = {
  retentionDays: Type.Optional(Nullable(RetentionDays)),
  creatorId: Type.Optional(InputCreatorId),
  record: Type.Optional(Type.Boolean()),
  multistream: Type.Optional(NewMultistream),
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
  profiles: Type.Optional(Nullable(Type.Array(Profile, { maxItems: 32 }))),
  recordingSpec: Type.Optional(RecordingSpec),
  userTags: Type.Optional(UserTags),
};

const Name = Type.String({ minLength: 1, maxLength: 1000 });

/** Body of `POST /api/stream`. Without `profiles` (or with null) the stream gets `DEFAULT_PROFILES`. */
export const NewStream = exact({ name: Name, pull: Type.Optional(Pull), ...writable });
export type NewStream = Static<typeof NewStream>;

/** Body of `PATCH /api/stream/{id}`: any subset. `record` and `profiles` cannot change while the stream is active (400). */
export const StreamPatch = exact({
  name: Type.Optional(Name),
  suspended: Type.Optional(Type.Boolean()),
  ...writable,
});
export type StreamPatch = Static<typeof StreamPatch>;

/** Body of `PATCH /api/stream/{id}/record`. Clients know 400, not 422, for everything that is no boolean. */
export const RecordPatch = Type.Unsafe<{ record?: unknown }>({
  type: "object",
  properties: { record: { description: "true or false" } },
});
export type RecordPatch = Static<typeof RecordPatch>;

/** Body of `PATCH /api/stream/{id}/suspended`. */
export const SuspendedPatch = exact({ suspended: Type.Optional(Type.Boolean()) });
export type SuspendedPatch = Static<typeof SuspendedPatch>;

/** Body of `DELETE /api/stream`. Absent or empty `ids` are refused by name (422). */
export const StreamIds = exact({ ids: Type.Optional(Type.Array(Id, { maxItems: 1000 })) });

/** Something that is wrong with a live stream (an addition of ours), as its `stream_issue` event told. */
export const OpenIssue = Type.Object({
  code: Type.String({ description: "Stable, for programs" }),
  sentence: Type.String({ description: "What is wrong" }),
  evidence: Type.String({ description: "What was measured" }),
  remedy: Type.String({ description: "What to change" }),
  isHarmful: Type.Boolean({ description: "False for what may be meant: the stream still counts as healthy" }),
  since: Milliseconds,
});
export type OpenIssue = Static<typeof OpenIssue>;

/**
 * The stream's "now" (an addition of ours). `since` is when this state began; while reconnecting, `reconnectUntil` is when the session
 * ends unless the broadcaster is back. `isActive` is true when live or reconnecting.
 */
export const StreamStatus = Type.Object({
  state: Type.Enum(["idle", "live", "reconnecting"]),
  since: Milliseconds,
  reconnectUntil: Type.Optional(Milliseconds),
  sessionId: Type.Optional(Id),
  transcoding: Type.Optional(
    Type.Object({
      state: Type.Enum(["off", "starting", "running", "source-only"]),
      reason: Type.Optional(Type.String({ description: "Why it is source only" })),
    }),
  ),
  renditions: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ description: "As the profile is called" }),
        width: Type.Integer(),
        height: Type.Integer(),
        state: Type.Enum(["running", "gap", "off"]),
        lagMs: Type.Optional(Type.Integer({ description: "Behind the source, renewed every 10 seconds" })),
      }),
    ),
  ),
  issues: Type.Optional(Type.Array(OpenIssue, { description: "What is wrong while it is live, the oldest first" })),
});
export type StreamStatus = Static<typeof StreamStatus>;

/** Counters that streams and sessions share. Durations in seconds, sizes in bytes, rates in bytes per second. */
export const counters = {
  lastSeen: Milliseconds,
  sourceSegments: Type.Integer(),
  sourceSegmentsDuration: Type.Number({ description: "Seconds" }),
  sourceBytes: Type.Integer(),
  transcodedSegments: Type.Integer(),
  transcodedSegmentsDuration: Type.Number({ description: "Seconds" }),
  transcodedBytes: Type.Integer(),
  ingestRate: Type.Number({ description: "Bytes per second received, renewed every 10 seconds" }),
  outgoingRate: Type.Number({ description: "Bytes per second sent, renewed every 10 seconds" }),
  isHealthy: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  issues: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
};

/** A stream as its owner sees it. Unset fields are absent; null only where the schema says so. */
export const Stream = Type.Object({
  id: Id,
  kind: Type.Literal("stream"),
  name: Type.String(),
  userId: Id,
  projectId: Id,
  creatorId: Type.Optional(CreatorId),
  userTags: Type.Optional(UserTags),
  createdAt: Milliseconds,
  createdByTokenName: Type.Optional(Type.String()),
  streamKey: Type.Optional(
    Type.String({
      description:
        "Secret: it lets anybody publish. Absent for keys that may not change the stream, and for keys of web pages",
    }),
  ),
  playbackId: Type.String(),
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
  profiles: Type.Array(Profile),
  record: Type.Boolean(),
  recordingSpec: Type.Optional(RecordingSpec),
  retentionDays: Type.Optional(RetentionDays),
  multistream: Type.Object({ targets: Type.Array(ShownTarget) }),
  pull: Type.Optional(Pull),
  parentId: Type.Optional(Id),
  isActive: Type.Boolean(),
  suspended: Type.Boolean(),
  lastTerminatedAt: Nullable(Milliseconds),
  ...counters,
  status: StreamStatus,
});
export type Stream = Static<typeof Stream>;

/** Body of `POST /api/stream/{id}/test-broadcast` (an addition of ours): the server sends the stream a picture and a tone. */
export const TestBroadcast = exact({
  seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 600, description: "60 if unset" })),
});
export type TestBroadcast = Static<typeof TestBroadcast>;

/** An attempt to publish that the server refused (ours). */
export const RefusedPublish = Type.Object({
  timestamp: Milliseconds,
  protocol: Type.String(),
  address: Type.String({ description: "Of the encoder" }),
  message: Type.String({ description: "What the encoder was told" }),
  isKnownKey: Type.Boolean({
    description: "False: the stream key is no stream's, so the attempt may be about another stream",
  }),
});
export type RefusedPublish = Static<typeof RefusedPublish>;
