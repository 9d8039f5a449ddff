import { Type } from "typebox";
import { Milliseconds } from "../exact.ts";
import type { WebhookDelivery, WebhookEventName } from "../webhook.ts";
import { asset, delivery, EXAMPLE_ORIGIN, ids, playbackIds, session, task, times } from "./example-objects.ts";

/** A call that Weir makes to a webhook. */
export interface EventDescription {
  readonly description: string;
  readonly example: WebhookDelivery;
}

/** `playback.accessControl` has a body of its own; `stream.detection` never occurs. */
export type DeliveredEvent = Exclude<WebhookEventName, "playback.accessControl" | "stream.detection">;

const of = (event: DeliveredEvent, payload?: WebhookDelivery["payload"]): WebhookDelivery => ({
  ...delivery,
  event,
  ...(payload === undefined ? {} : { payload }),
});
/** About an asset or a task: there is no stream. */
const without = ({ stream: _, ...body }: WebhookDelivery): WebhookDelivery => body;

const target = { id: ids.target, name: "live.example.net", profile: "source" };
const ofAsset = { asset: { id: ids.asset, snapshot: asset } };
const ofTask = { task: { id: ids.task, type: task.type, snapshot: task } };

export const eventDescriptions: Readonly<Record<DeliveredEvent, EventDescription>> = {
  "stream.started": {
    description:
      "A broadcast has begun. A broadcaster who reconnects within the reconnect window causes no further event.",
    example: of("stream.started"),
  },
  "stream.idle": {
    description: "A broadcast has ended, and the reconnect window has passed.",
    example: of("stream.idle"),
  },
  "recording.started": {
    description: "A session that is being recorded has begun.",
    example: of("recording.started", { session }),
  },
  "recording.waiting": {
    description: "A recorded session has ended, and Weir is finishing its recording.",
    example: of("recording.waiting", { session }),
  },
  "recording.ready": {
    description: "A recording can be played and downloaded at the addresses in the payload.",
    example: of("recording.ready", { recordingUrl: session.recordingUrl, mp4Url: session.mp4Url, session }),
  },
  "recording.deleted": {
    description: "A recording was deleted, by a request or because its retention has passed.",
    example: of("recording.deleted", { session }),
  },
  "multistream.connected": {
    description: "A multistream target has accepted the stream for two seconds.",
    example: of("multistream.connected", { target }),
  },
  "multistream.error": {
    description:
      "The connection to a multistream target was lost. Weir retries if `willRetry` is true, and otherwise gives up until the next broadcast.",
    example: of("multistream.error", { target, reason: "the target closed the connection", willRetry: true }),
  },
  "multistream.disconnected": {
    description:
      "A stream is no longer forwarded to a target: it has ended, or the target was removed, disabled or changed.",
    example: of("multistream.disconnected", { target }),
  },
  "playback.user.new": {
    description: "A viewer has started to watch. Weir stores these events only while a webhook subscribes to them.",
    example: of("playback.user.new", { playbackId: playbackIds.stream, viewerId: "viewer-1" }),
  },
  "asset.created": {
    description: "An asset was requested: by an upload, an import or a clip.",
    example: without(of("asset.created", ofAsset)),
  },
  "asset.updated": {
    description: "An asset has changed, or its processing has advanced by a tenth.",
    example: without(of("asset.updated", ofAsset)),
  },
  "asset.ready": {
    description: "Every rendition of an asset can be played.",
    example: without(of("asset.ready", ofAsset)),
  },
  "asset.failed": {
    description: "An asset could not be processed. `errorMessage` of its status says why.",
    example: without(of("asset.failed", ofAsset)),
  },
  "asset.deleted": {
    description: "An asset was deleted. It can be restored until `status.purgeAt`.",
    example: without(of("asset.deleted", ofAsset)),
  },
  "task.spawned": {
    description: "A task was created by a request.",
    example: without(of("task.spawned", ofTask)),
  },
  "task.updated": {
    description: "A task has started, or has advanced by a tenth.",
    example: without(of("task.updated", ofTask)),
  },
  "task.completed": {
    description: "A task has completed. Its `output` has the results.",
    example: without(of("task.completed", { ...ofTask, success: true })),
  },
  "task.failed": {
    description: "A task has failed. `errorMessage` of its status says why.",
    example: without(of("task.failed", { ...ofTask, success: false })),
  },
};

/** The question to an access webhook: the status of the response is the decision. */
export const AccessQuestion = Type.Object({
  accessKey: Type.String({ description: "Exactly as the viewer sent it" }),
  context: Type.Record(Type.String(), Type.Unknown(), { description: "`webhookContext` of the content's policy" }),
  timestamp: Milliseconds,
  userIP: Type.Optional(Type.String({ description: "Address of the viewer" })),
  playDomain: Type.Optional(Type.String({ description: "Host in the viewer's request" })),
  playURL: Type.Optional(Type.String({ description: "Address that the viewer requested" })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "Headers of the viewer's request" })),
});

export const accessQuestion = {
  description:
    "A viewer requests content whose policy has the type `webhook`. Respond with a 2xx status to admit the viewer. Any other status, or no response within 5 seconds, refuses the viewer. Weir does not read the body of the response.",
  example: {
    accessKey: "viewer-secret",
    context: { plan: "premium" },
    timestamp: times.started,
    userIP: "203.0.113.9",
    playDomain: "video.example.com",
    playURL: `${EXAMPLE_ORIGIN}/hls/${playbackIds.stream}/index.m3u8`,
    headers: { "User-Agent": "Mozilla/5.0", Origin: "https://www.example.com" },
  },
} as const;
