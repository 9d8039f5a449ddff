/** Public interface of streams. */

export { readStream } from "./stream-record.ts";
export { streamRoutes } from "./stream-routes.ts";
