import { Type } from "typebox";
import { EventPage } from "../event.ts";
import { StreamHealth } from "../health.ts";
import { flag, ok, type Route } from "../route.ts";

const feedQuery = Type.Object({
  from: flag("Milliseconds since the Unix epoch: events after it, then live ones. Live ones alone if unset or to come"),
  to: flag("Milliseconds, with `from`: events until then, then the end"),
  lastEventId: flag("The last event that is known; as the header `Last-Event-ID`, in place of `from`"),
  mustFindLast: flag(
    "404 where that event is not there any longer; else a gap is told, and the oldest events that are",
  ),
  pollMaxWaitSec: flag("With `Accept: application/json`: seconds to wait for an event, 10 if unset, 60 at most"),
});

const health = {
  method: "GET",
  summary: "Get a stream's health: conditions, their history, metrics",
  auth: "key",
  anyOrigin: true,
  success: ok(StreamHealth),
  failures: [404],
} as const;

const events = {
  method: "GET",
  summary: "The events of a stream as server-sent events, or as JSON by long polling",
  auth: "key",
  anyOrigin: true,
  query: feedQuery,
  success: ok(EventPage),
  failures: [400, 404, 503],
} as const;

/** Health and events of streams, at both URLs of the data API. */
export const dataRoutes = {
  getStreamHealth: { ...health, path: "/api/data/stream/:id/health" },
  getStreamHealthOutsideApi: { ...health, path: "/data/stream/:id/health" },
  getStreamEvents: { ...events, path: "/api/data/stream/:id/events" },
  getStreamEventsOutsideApi: { ...events, path: "/data/stream/:id/events" },
} as const satisfies Record<string, Route>;
