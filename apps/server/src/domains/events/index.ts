/** The door of the event log. */

export { EventFeed, type FeedCounts } from "./event-feed.ts";
export { eventId, parseEventId } from "./event-id.ts";
export { type EventDeps, EventLog, type LoggedEvent, type NewEvent, type PlacedEvent } from "./event-log.ts";
export { eventRoutes } from "./event-routes.ts";
export { ownsLog } from "./log-owner.ts";
export { streamEvent } from "./stream-event.ts";
