/** Public interface of sessions. */

export { expireRecordings, type RecordingExpiryDeps } from "./recording-expiry.ts";
export { addToSessions, readOwners, readSessionFences, type SessionTally } from "./session-facts-store.ts";
export { beginSession, endSession, markSessionLost, resumeSession } from "./session-live-store.ts";
export { sessionRecord } from "./session-record.ts";
export { sessionRoutes } from "./session-routes.ts";
export { readSession } from "./session-snapshot.ts";
export { findLatestSession, findSession, sessionsOfStreams } from "./session-store.ts";
