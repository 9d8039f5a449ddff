/** The door of usage: minutes transcoded, delivered and stored. */
export { usageRoutes } from "./usage-routes.ts";
export { addTranscodedTime, type TranscodedTime } from "./usage-store.ts";
