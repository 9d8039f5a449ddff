import { type Static, Type } from "typebox";
import { Id, Milliseconds } from "./exact.ts";

/** The fields of every event. `v` is the version of the type's shape; clients must tolerate unknown types, versions and fields. */
const base = {
  id: Type.String({ description: "UUIDv7; clients resume after it" }),
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

/** Quality of a connection since the previous such event (Weir addition). */
const link = {
  roundTripMs: Type.Optional(Type.Number({ description: "Absent if the peer does not report it" })),
  fractionLost: Type.Number({ description: "Mean share of packets lost, 0 to 1" }),
  retransmits: Type.Integer({ description: "Packets requested again" }),
};

/** Metrics of the media floor, every 10 seconds while live. */
export const MediaServerMetricsEvent = Type.Object({
  type: Type.Literal("media_server_metrics"),
  ...base,
  nodeId: Type.String(),
  region: Type.Optional(Type.String()),
  stats: Type.Object({
    mediaTimeMs: Type.Union([Type.Number(), Type.Null()]),
    ingestRate: Type.Optional(Type.Number({ description: "Bytes per second received since the previous such event" })),
    outgoingRate: Type.Optional(Type.Number({ description: "Bytes per second sent to viewers since then" })),
    frameRate: Type.Optional(Type.Number({ description: "Pictures per second of the source" })),
    keyframeIntervalMs: Type.Optional(Type.Number({ description: "Time between two keyframes of the source" })),
    viewerCount: Type.Optional(Type.Integer({ description: "Current viewers of the stream" })),
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
    srt: Type.Optional(
      Type.Object(
        {
          ...link,
          latencyMs: Type.Number({
            description: "The time that lost packets have to be sent again, as both sides agreed",
          }),
          latePackets: Type.Integer({ description: "Packets that came too late, or never: pictures are missing" }),
        },
        { description: "The connection of a publisher over SRT" },
      ),
    ),
  }),
  multistream: Type.Array(
    Type.Object({
      target: Type.Object({ id: Type.String(), name: Type.String(), profile: Type.String() }),
      metrics: Type.Union([
        Type.Object({ activeSec: Type.Number(), bytes: Type.Number(), mediaTimeMs: Type.Number() }),
        Type.Null(),
      ]),
      reason: Type.Optional(Type.String({ description: "The problem with the target (Weir addition)" })),
    }),
  ),
});
export type MediaServerMetricsEvent = Static<typeof MediaServerMetricsEvent>;

/** One source segment passed through the transcoder, or failed to: `attempts` gives the reason. */
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
  success: Type.Boolean({ description: "At least one rendition has the segment" }),
  missing: Type.Optional(
    Type.Array(Type.String(), { description: "Profiles of the renditions that lack the segment (Weir addition)" }),
  ),
  attempts: Type.Array(
    Type.Object({
      orchestrator: Type.Object({ address: Type.String(), transcodeUri: Type.String() }),
      latencyMs: Type.Number(),
      error: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
});
export type TranscodeEvent = Static<typeof TranscodeEvent>;

/** Some telemetry events of this stream were dropped before this one, because the log could not keep up (Weir addition). */
export const EventGapEvent = Type.Object({
  type: Type.Literal("event_gap"),
  ...base,
  dropped: Type.Integer({ minimum: 1 }),
});
export type EventGapEvent = Static<typeof EventGapEvent>;

/** A webhook event that no other type reports: recordings, multistream targets. */
export const WebhookEvent = Type.Object({
  type: Type.Literal("webhook_event"),
  ...base,
  event: Type.String({ description: "The webhook event's name: `recording.ready`, `multistream.connected` …" }),
  userId: Id,
  sessionId: Type.Optional(Id),
  payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type WebhookEvent = Static<typeof WebhookEvent>;

/** An issue of the stream opened or closed (Weir addition). The same `code` is open at most once per stream. */
export const StreamIssueEvent = Type.Object({
  type: Type.Literal("stream_issue"),
  ...base,
  code: Type.String({ description: "Stable, for programs" }),
  sentence: Type.String({ description: "The problem" }),
  evidence: Type.String({ description: "The measurement" }),
  remedy: Type.String({ description: "The fix" }),
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

/** A page of the event feed, for a client that asks for `application/json`. */
export const EventPage = Type.Object({
  events: Type.Array(StreamEvent),
  gap: Type.Optional(Type.Literal(true, { description: "Events between the named one and these have expired" })),
});
export type EventPage = Static<typeof EventPage>;
