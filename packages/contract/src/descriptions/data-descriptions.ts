import { Type } from "typebox";
import type { Condition } from "../health.ts";
import type { dataRoutes } from "../routes/data-routes.ts";
import type { usageRoutes } from "../routes/usage-routes.ts";
import type { viewsRoutes } from "../routes/views-routes.ts";
import type { DescriptionsOf } from "./description.ts";
import { ids, playbackIds, times } from "./example-objects.ts";

const good: Condition = {
  status: true,
  frequency: { "1m": 1, "10m": 1, "60m": 0.98 },
  lastProbeTime: times.seen,
  lastTransitionTime: times.started,
  lastTransitionsTime: times.started,
};
/** The report of a player. The server ignores other fields. */
export const PlaybackLog = Type.Object({
  playback_id: Type.String({ description: "The playback id that the player plays" }),
  session_id: Type.Optional(Type.String({ description: "Chosen by the player, to tell its views apart" })),
  events: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    maxItems: 200,
    description:
      "Each with `type`: `heartbeat`, with `play_to_first_frame_ms`, `time_playing_ms`, `time_waiting_ms` and `time_stalled_ms`, or `error`",
  }),
});

const noReading: Condition = {
  status: null,
  lastProbeTime: null,
  lastTransitionTime: null,
  lastTransitionsTime: null,
};

export const healthDescriptions: DescriptionsOf<typeof dataRoutes> = {
  getStreamHealth: {
    description:
      "Returns whether a stream is healthy and why: five conditions with the share of good readings in the last minute, ten minutes and hour, metrics, and the state of each multistream target. A condition without a reading is null and does not count. The same response is at `/data/stream/{id}/health`.",
    example: {
      params: { id: ids.stream },
      answer: {
        id: ids.stream,
        healthy: good,
        conditions: [
          { type: "Active", ...good, extraData: { nodeId: "node-1", region: "local" } },
          { type: "Transcoding", ...good },
          { type: "TranscodeRealTime", ...good },
          { type: "TranscodeNoErrors", ...good },
          { type: "Multistreaming", ...noReading },
        ],
        metrics: {
          MediaTimeMillis: [
            {
              name: "MediaTimeMillis",
              dimensions: { nodeId: "node-1", region: "local" },
              last: [times.seen, 3_600_000],
            },
          ],
        },
        multistream: [],
      },
    },
    errors: ["not-found"],
  },
  getStreamEvents: {
    description:
      "Streams the events of a stream as server-sent events and stays connected. If the request accepts `application/json`, it returns one page of JSON instead. `from` replays stored events first. A client that reconnects with `Last-Event-ID` misses nothing. The same response is at `/data/stream/{id}/events`.",
    example: {
      params: { id: ids.stream },
      query: { from: String(times.started), to: String(times.seen) },
      answer: {
        events: [
          {
            type: "stream_state",
            id: ids.event,
            timestamp: times.started,
            streamId: ids.stream,
            v: 1,
            nodeId: "node-1",
            region: "local",
            userId: ids.account,
            state: { active: true },
          },
        ],
      },
    },
    eventStream: `retry: 10000\n\nid: ${ids.event}\nevent: service_event\ndata: {"type":"stream_state","id":"${ids.event}","timestamp":${times.started},"streamId":"${ids.stream}","v":1,"nodeId":"node-1","userId":"${ids.account}","state":{"active":true}}\n\n`,
    errors: ["bad-request", "not-found", "feed-full"],
  },
};

export const usageDescriptions: DescriptionsOf<typeof usageRoutes> = {
  getUsage: {
    description:
      "Returns the minutes of media that were transcoded, delivered and stored in a period. With `timeStep` or `breakdownBy` the response is a list, with one element for each step and creator. The same response is at `/data/usage/query`.",
    example: {
      query: { from: String(times.created), to: String(times.ended) },
      answer: { UserID: ids.account, TotalUsageMins: 60, DeliveryUsageMins: 900, StorageUsageMins: 62 },
    },
    errors: ["bad-request"],
  },
};

const views = { viewCount: 120, playtimeMins: 900, errorRate: 0.01 };

export const viewsDescriptions: DescriptionsOf<typeof viewsRoutes> = {
  getViewsNow: {
    description:
      "Counts the current viewers of the whole project, or of one playback id or creator. With `breakdownBy` there is one element for each value, for example for each country. The same response is at `/data/views/now`.",
    example: { query: { breakdownBy: "country" }, answer: [{ country: "SE", viewCount: 42, errorRate: 0 }] },
    errors: ["bad-request"],
  },
  getViews: {
    description:
      "Counts views and playing time in a period, with the quality that players reported. Counts have a resolution of an hour. With `timeStep` there is one element for each step. The same response is at `/data/views/query`.",
    example: {
      query: { playbackId: playbackIds.stream, timeStep: "day" },
      answer: [{ timestamp: times.created, ...views, ttffMs: 640, rebufferRatio: 0.002 }],
    },
    errors: ["bad-request", "not-found"],
  },
  getViewsOfCreator: {
    description:
      "Counts the views of exactly one stream or asset. Unlike `getViews` it may be called with an API key that is published in a web page, so that creators can see their own figures. The same response is at `/data/views/query/creator`.",
    example: { query: { streamId: ids.stream }, answer: [views] },
    errors: ["bad-request", "not-found"],
  },
  getTotalViews: {
    description:
      "Returns the number of all views of one playback id. It needs no key, so a page can show the number beside its player. The number may be a minute old. The same response is at `/data/views/query/total/{id}`.",
    example: {
      params: { id: playbackIds.stream },
      answer: { playbackId: playbackIds.stream, viewCount: 120, playtimeMins: 900, legacyViewCount: 0 },
    },
    errors: [],
  },
  logPlayback: {
    description:
      "Receives a player's report about one view: the time to the first picture, waits for data, and errors. Players send it as JSON, also with the content type `text/plain`, so that a browser needs no preflight. The same operation is at `/data/analytics/log` and `/analytics/log`.",
    example: {},
    looseBody: {
      schema: PlaybackLog,
      types: ["application/json", "text/plain"],
      example: {
        playback_id: playbackIds.stream,
        session_id: "player-1",
        events: [{ type: "heartbeat", play_to_first_frame_ms: 640, time_playing_ms: 5000, time_waiting_ms: 0 }],
      },
    },
    errors: ["bad-request"],
  },
};
