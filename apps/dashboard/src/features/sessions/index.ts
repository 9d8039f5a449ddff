export { playbackIdOf } from "./recording-address.ts";
export { RecordingVideo } from "./recording-video.tsx";
export { SessionFigures } from "./session-figures.tsx";
export { SessionList } from "./session-list.tsx";
export { sessionQuery, sessionsQuery } from "./session-queries.ts";
export type { SessionSearch } from "./session-search.ts";
