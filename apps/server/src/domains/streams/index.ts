/** The door of the streams. */
export { streamRoutes } from "./stream-routes.ts";
export { readStream } from "./stream-snapshot.ts";
