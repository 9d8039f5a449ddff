/** Public interface of streams. */
export { streamRoutes } from "./stream-routes.ts";
export { readStream } from "./stream-snapshot.ts";
