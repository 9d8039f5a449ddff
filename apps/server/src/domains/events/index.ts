/** The door of the event log. */

export { eventId, parseEventId } from "./event-id.ts";
export { EventLog, type LoggedEvent, type NewEvent } from "./event-log.ts";
