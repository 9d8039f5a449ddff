/** The door of the multistream targets. */
export { targetRoutes } from "./target-routes.ts";
export { resolveTargets } from "./target-service.ts";
