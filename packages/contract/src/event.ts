import { type Static, Type } from "typebox";
import { Id, Milliseconds } from "./exact.ts";

/** The fields of every event. `v` is the version of the type's shape; readers tolerate unknown types, versions and fields. */
const base = {
  id: Type.String({ description: "UUIDv7; resume after it" }),
  timestamp: Milliseconds,
  streamId: Id,
  v: Type.Integer(),
};

/** The stream became active or inactive. */
export const StreamStateEvent = Type.Object({
  type: Type.Literal("stream_state"),
  ...base,
  nodeId: Type.String(),
  region: Type.Optional(Type.String()),
  userId: Id,
  state: Type.Object({ active: Type.Boolean() }),
});
export type StreamStateEvent = Static<typeof StreamStateEvent>;

/** How well a WebRTC connection carried media since the last of these events (ours). */
const link = {
  roundTripMs: Type.Optional(Type.Number({ description: "Absent where the other side does not tell" })),
  fractionLost: Type.Number({ description: "Of the packets, on average: from 0 to 1" }),
  retransmits: Type.Integer({ description: "Packets that were asked for again" }),
};

/** Measures of the media floor, every 10 seconds while live. */
export const MediaServerMetricsEvent = Type.Object({
  type: Type.Literal("media_server_metrics"),
  ...base,
  nodeId: Type.String(),
  region: Type.Optional(Type.String()),
  stats: Type.Object({
    mediaTimeMs: Type.Union([Type.Number(), Type.Null()]),
    ingestRate: Type.Optional(Type.Number({ description: "Bytes per second received since the last of these events" })),
    outgoingRate: Type.Optional(Type.Number({ description: "Bytes per second sent to viewers since then" })),
    frameRate: Type.Optional(Type.Number({ description: "Pictures per second of the source" })),
    keyframeIntervalMs: Type.Optional(Type.Number({ description: "From one keyframe of the source to the next" })),
    viewerCount: Type.Optional(Type.Integer({ description: "Viewers of the stream at that moment" })),
    webrtc: Type.Optional(
      Type.Object({
        publisher: Type.Optional(Type.Object(link)),
        viewers: Type.Optional(
          Type.Object({
            ...link,
            count: Type.Integer(),
            lowered: Type.Integer({
              description: "Viewers whose network is too slow for the source, so that they get less",
            }),
          }),
        ),
      }),
    ),
  }),
  multistream: Type.Array(
    Type.Object({
      target: Type.Object({ id: Type.String(), name: Type.String(), profile: Type.String() }),
      metrics: Type.Union([
        Type.Object({ activeSec: Type.Number(), bytes: Type.Number(), mediaTimeMs: Type.Number() }),
        Type.Null(),
      ]),
      reason: Type.Optional(Type.String({ description: "What is wrong with it (ours)" })),
    }),
  ),
});
export type MediaServerMetricsEvent = Static<typeof MediaServerMetricsEvent>;

/** One source segment went through the transcoder, or could not: `attempts` says why. */
export const TranscodeEvent = Type.Object({
  type: Type.Literal("transcode"),
  ...base,
  nodeId: Type.String(),
  segment: Type.Object({
    name: Type.String(),
    seqNo: Type.Integer(),
    duration: Type.Number({ description: "Seconds" }),
    byteSize: Type.Integer(),
  }),
  startTime: Milliseconds,
  latencyMs: Type.Number(),
  success: Type.Boolean(),
  attempts: Type.Array(
    Type.Object({
      orchestrator: Type.Object({ address: Type.String(), transcodeUri: Type.String() }),
      latencyMs: Type.Number(),
      error: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
});
export type TranscodeEvent = Static<typeof TranscodeEvent>;

/** Some telemetry events of this stream were dropped before this one, because the log could not keep up (ours). */
export const EventGapEvent = Type.Object({
  type: Type.Literal("event_gap"),
  ...base,
  dropped: Type.Integer({ minimum: 1 }),
});
export type EventGapEvent = Static<typeof EventGapEvent>;

/** Something that webhooks can be about and that no other type says: recordings, multistream targets. */
export const WebhookEvent = Type.Object({
  type: Type.Literal("webhook_event"),
  ...base,
  event: Type.String({ description: "As webhooks name it: `recording.ready`, `multistream.connected` …" }),
  userId: Id,
  sessionId: Type.Optional(Id),
  payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type WebhookEvent = Static<typeof WebhookEvent>;

/** Something is wrong with the stream, or no longer (ours). The same `code` is open at most once per stream. */
export const StreamIssueEvent = Type.Object({
  type: Type.Literal("stream_issue"),
  ...base,
  code: Type.String({ description: "Stable, for programs" }),
  sentence: Type.String({ description: "What is wrong" }),
  evidence: Type.String({ description: "What was measured" }),
  remedy: Type.String({ description: "What to change" }),
  state: Type.Union([Type.Literal("opened"), Type.Literal("closed")]),
});
export type StreamIssueEvent = Static<typeof StreamIssueEvent>;

export const StreamEvent = Type.Union([
  StreamStateEvent,
  MediaServerMetricsEvent,
  TranscodeEvent,
  WebhookEvent,
  StreamIssueEvent,
  EventGapEvent,
]);
export type StreamEvent = Static<typeof StreamEvent>;

/** A page of the event feed, as a client gets it that asks for `application/json`. */
export const EventPage = Type.Object({
  events: Type.Array(StreamEvent),
  gap: Type.Optional(
    Type.Literal(true, { description: "Events before these, after the one that was named, are not kept any longer" }),
  ),
});
export type EventPage = Static<typeof EventPage>;
