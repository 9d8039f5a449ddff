import { type Static, Type } from "typebox";
import { exact, expects, Id, Milliseconds } from "./exact.ts";
import { PlaybackPolicy } from "./playback-policy.ts";
import { Profile, TranscodeProfile } from "./profile.ts";

export const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** The customer's own id for the creator of a thing. */
export const CreatorId = exact({ type: Type.Literal("unverified"), value: Type.String({ maxLength: 500 }) });
export type CreatorId = Static<typeof CreatorId>;

export const InputCreatorId = Type.Union([Type.String({ maxLength: 500 }), CreatorId]);

type UserTag = string | number | (string | number)[];

const tagValues = [{ type: "string" }, { type: "number" }];

/** Free key-value tags, at most 2,048 characters as JSON. */
export const UserTags = Type.Unsafe<Record<string, UserTag>>({
  type: "object",
  additionalProperties: { anyOf: [...tagValues, { type: "array", items: { anyOf: tagValues } }] },
});

const Slate = Type.Boolean({
  description: "While the encoder is away, the target gets the last picture and silence (Weir addition)",
});

/** One destination of a stream: the `id` of a target, or a `spec` that creates a target. */
export const NewTargetRef = exact({
  profile: Type.String({ minLength: 1, maxLength: 500, description: "Name of a profile, or `source`" }),
  videoOnly: Type.Optional(Type.Boolean()),
  slate: Type.Optional(Slate),
  id: Type.Optional(Type.String({ maxLength: 100 })),
  spec: Type.Optional(
    exact({
      name: Type.Optional(Type.String({ maxLength: 500 })),
      url: Type.String({
        ...{ maxLength: 2048, pattern: "^(srt|rtmps?)://", description: "Write-only" },
        ...expects("an address that begins with rtmp://, rtmps:// or srt://"),
      }),
    }),
  ),
  status: Type.Optional(Type.Unknown({ description: "Accepted because streams show it; ignored" })),
});
export type NewTargetRef = Static<typeof NewTargetRef>;

/** A target in a stream's record; its URL is never shown. */
export const TargetRef = Type.Object({
  profile: Type.String(),
  videoOnly: Type.Optional(Type.Boolean()),
  slate: Type.Optional(Slate),
  id: Id,
});
export type TargetRef = Static<typeof TargetRef>;

/** The state of a stream's target (Weir addition). */
export const TargetStatus = Type.Object({
  state: Type.Enum(["Idle", "Pending", "Online", "Offline"], {
    description: "Idle: no broadcast, or a disabled target. Offline: abandoned until the next broadcast",
  }),
  since: Type.Optional(Milliseconds),
  reason: Type.Optional(
    Type.String({ description: "The reason why it is not online, including the target's own message" }),
  ),
});
export type TargetStatus = Static<typeof TargetStatus>;

const ShownTarget = Type.Object({ ...TargetRef.properties, status: TargetStatus });

const NewMultistream = exact({ targets: Type.Array(NewTargetRef, { maxItems: 100 }) });

export const RecordingSpec = exact({
  profiles: Type.Optional(Nullable(Type.Array(TranscodeProfile, { maxItems: 32 }))),
});
export type RecordingSpec = Static<typeof RecordingSpec>;

/** A source from which the server pulls the stream. */
export const Pull = exact({
  source: Type.String({ minLength: 1, maxLength: 2048 }),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string>>({ type: "object", additionalProperties: { type: "string" } }),
  ),
  isMobile: Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: 2 }), Type.Boolean()])),
  onlyWhileWatched: Type.Optional(Type.Boolean({ default: false })),
  location: Type.Optional(
    exact({ lat: Type.Number({ minimum: -90, maximum: 90 }), lon: Type.Number({ minimum: -180, maximum: 180 }) }),
  ),
});
export type Pull = Static<typeof Pull>;

/** How the server gets a stream from its source (Weir addition). */
export const PullStatus = Type.Object({
  state: Type.Enum(["waiting", "connecting", "pulling", "retrying", "ended"], {
    description:
      "waiting: for a media node, for another publisher to end, or for a viewer; ended: the source has ended, or the stream was terminated",
  }),
  since: Milliseconds,
  reason: Type.Optional(
    Type.String({
      description: "Why the source is not being pulled, as a sentence; while it is, the tracks that are left out",
    }),
  ),
});
export type PullStatus = Static<typeof PullStatus>;

/** What a tried source has (Weir addition). */
export const SourceTrack = Type.Object({
  kind: Type.Enum(["video", "audio"]),
  codec: Type.String({ description: "As in RFC 6381, such as `avc1.640028` or `mp4a.40.2`" }),
  width: Type.Optional(Type.Integer({ description: "Pixels" })),
  height: Type.Optional(Type.Integer({ description: "Pixels" })),
  frameRate: Type.Optional(Type.Number({ description: "Frames per second, if the source declares it" })),
  sampleRate: Type.Optional(Type.Integer({ description: "Hz" })),
  channels: Type.Optional(Type.Integer({ description: "Audio channels" })),
});
export type SourceTrack = Static<typeof SourceTrack>;

/** Answer of `POST /api/stream/pull/try` (Weir addition). */
export const PullTrial = Type.Object({
  tracks: Type.Array(SourceTrack),
  leftOut: Type.Optional(
    Type.String({
      description: "Tracks of the source that a pull leaves out, as a sentence; absent if there are none",
    }),
  ),
  problem: Type.Optional(
    Type.String({ description: "What is wrong with the source, as a sentence; absent if it can be pulled" }),
  ),
});
export type PullTrial = Static<typeof PullTrial>;

/** Weir addition. */
export const RetentionDays = Type.Integer({
  minimum: 1,
  maximum: 36_500,
  description: "Days to keep it; defaults to the server's setting",
});

/** Weir addition. */
export const Dvr = Type.Union([Type.Integer({ minimum: 1, maximum: 1_440 }), Type.Literal("session")], {
  description:
    "How far viewers can go back while the stream is live: minutes, or `session` for the whole session. Without `record`, the stored media is deleted when the session ends. Applies from the next session on",
});
export type Dvr = Static<typeof Dvr>;

/** Weir addition. */
export const StreamSlate = Type.Union([Type.Literal("off"), Type.Literal("last-picture"), Type.Literal("image")], {
  description:
    "What viewers of the live stream see while its broadcaster may still reconnect: nothing new, or with silence the last picture or the stream's own image, so that players do not stall. For H.264 sources. Applies from the next session on",
});
export type StreamSlate = Static<typeof StreamSlate>;

const writable = {
  dvr: Type.Optional(Nullable(Dvr)),
  slate: Type.Optional(StreamSlate),
  retentionDays: Type.Optional(Nullable(RetentionDays)),
  creatorId: Type.Optional(InputCreatorId),
  record: Type.Optional(Type.Boolean()),
  multistream: Type.Optional(NewMultistream),
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
  profiles: Type.Optional(Nullable(Type.Array(Profile, { maxItems: 32 }))),
  recordingSpec: Type.Optional(RecordingSpec),
  userTags: Type.Optional(UserTags),
  srtPassphrase: Type.Optional(
    Nullable(Type.String({ maxLength: 79, description: "Refused: this server has one passphrase for all streams" })),
  ),
};

const Name = Type.String({ minLength: 1, maxLength: 1000 });

/** Body of `POST /api/stream`. Without `profiles` (or with null) the stream gets `DEFAULT_PROFILES`. */
export const NewStream = exact({ name: Name, pull: Type.Optional(Pull), ...writable });
export type NewStream = Static<typeof NewStream>;

/** Body of `PATCH /api/stream/{id}`: any subset, and Weir's addition `pull`, where null takes the source away. `record` and `profiles` cannot change while the stream is active (400). */
export const StreamPatch = exact({
  name: Type.Optional(Name),
  suspended: Type.Optional(Type.Boolean()),
  pull: Type.Optional(Nullable(Pull)),
  ...writable,
});
export type StreamPatch = Static<typeof StreamPatch>;

/** Body of `PATCH /api/stream/{id}/record`. Clients expect 400, not 422, for anything but a boolean. */
export const RecordPatch = Type.Unsafe<{ record?: unknown }>({
  type: "object",
  properties: { record: { description: "true or false" } },
});
export type RecordPatch = Static<typeof RecordPatch>;

/** Body of `PATCH /api/stream/{id}/suspended`. */
export const SuspendedPatch = exact({ suspended: Type.Optional(Type.Boolean()) });
export type SuspendedPatch = Static<typeof SuspendedPatch>;

/** Body of `PUT /api/stream/{id}/slate-image` (Weir addition). */
export const SlateImage = exact({
  image: Type.Union([Type.String({ maxLength: 700_000 }), Type.Null()], {
    description: "A PNG or JPEG of at most 512 KB, in base64; null takes the image away",
  }),
});
export type SlateImage = Static<typeof SlateImage>;

/** Body of `DELETE /api/stream`. Missing or empty `ids` are rejected by name (422). */
export const StreamIds = exact({ ids: Type.Optional(Type.Array(Id, { maxItems: 1000 })) });

/** An open issue of a live stream (Weir addition), as reported by its `stream_issue` event. */
export const OpenIssue = Type.Object({
  code: Type.String({ description: "Stable, for programs" }),
  sentence: Type.String({ description: "The problem" }),
  evidence: Type.String({ description: "The measurement" }),
  remedy: Type.String({ description: "The fix" }),
  isHarmful: Type.Boolean({
    description: "False for something that may be intended: the stream still counts as healthy",
  }),
  since: Milliseconds,
});
export type OpenIssue = Static<typeof OpenIssue>;

/**
 * The stream's current state (Weir addition). `since` is when this state began. While reconnecting, `reconnectUntil` is when the session ends
 * unless the broadcaster returns. `isActive` is true when live or reconnecting.
 */
export const StreamStatus = Type.Object({
  state: Type.Enum(["idle", "live", "reconnecting"]),
  since: Milliseconds,
  reconnectUntil: Type.Optional(Milliseconds),
  sessionId: Type.Optional(Id),
  transcoding: Type.Optional(
    Type.Object({
      state: Type.Enum(["off", "starting", "running", "source-only"]),
      reason: Type.Optional(Type.String({ description: "Why only the source quality plays" })),
    }),
  ),
  renditions: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ description: "Name of the profile" }),
        width: Type.Integer(),
        height: Type.Integer(),
        state: Type.Enum(["running", "gap", "off"]),
        lagMs: Type.Optional(Type.Integer({ description: "Delay behind the source, updated every 10 seconds" })),
      }),
    ),
  ),
  pull: Type.Optional(PullStatus),
  issues: Type.Optional(Type.Array(OpenIssue, { description: "Open issues of the live stream, oldest first" })),
});
export type StreamStatus = Static<typeof StreamStatus>;

/** Counters shared by streams and sessions. Durations in seconds, sizes in bytes, rates in bytes per second. */
export const counters = {
  lastSeen: Milliseconds,
  sourceSegments: Type.Integer(),
  sourceSegmentsDuration: Type.Number({ description: "Seconds" }),
  sourceBytes: Type.Integer(),
  transcodedSegments: Type.Integer(),
  transcodedSegmentsDuration: Type.Number({ description: "Seconds" }),
  transcodedBytes: Type.Integer(),
  ingestRate: Type.Number({ description: "Bytes per second received, updated every 10 seconds" }),
  outgoingRate: Type.Number({ description: "Bytes per second sent, updated every 10 seconds" }),
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
        "Secret: anybody who has it can publish. Absent for API keys that cannot change the stream, and for keys of web pages",
    }),
  ),
  playbackId: Type.String(),
  playbackPolicy: Type.Optional(Nullable(PlaybackPolicy)),
  profiles: Type.Array(Profile),
  record: Type.Boolean(),
  recordingSpec: Type.Optional(RecordingSpec),
  dvr: Type.Optional(Dvr),
  slate: Type.Optional(StreamSlate),
  retentionDays: Type.Optional(RetentionDays),
  multistream: Type.Object({ targets: Type.Array(ShownTarget) }),
  pull: Type.Optional(Pull),
  parentId: Type.Optional(Id),
  renditions: Type.Optional(
    Type.Object(
      {},
      { description: "Empty, as in the public API; the renditions that are being made are in `status.renditions`" },
    ),
  ),
  isActive: Type.Boolean(),
  suspended: Type.Boolean(),
  lastTerminatedAt: Nullable(Milliseconds),
  ...counters,
  status: StreamStatus,
});
export type Stream = Static<typeof Stream>;

/** Body of `POST /api/stream/{id}/test-broadcast` (Weir addition): the server sends the stream a picture and a tone. */
export const TestBroadcast = exact({
  seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 600, description: "Default 60" })),
});
export type TestBroadcast = Static<typeof TestBroadcast>;

/** A publish attempt that the server refused (Weir addition). */
export const RefusedPublish = Type.Object({
  timestamp: Milliseconds,
  protocol: Type.String(),
  address: Type.String({ description: "Address of the encoder" }),
  message: Type.String({ description: "Message sent to the encoder" }),
  isKnownKey: Type.Boolean({
    description: "False: the stream key is unknown, so the attempt may have been meant for another stream",
  }),
});
export type RefusedPublish = Static<typeof RefusedPublish>;
