export { SessionList } from "./session-list.tsx";
export { sessionQuery } from "./session-queries.ts";
