/** The door of the multistream targets. */
export { enabledTargets, type NamedTarget } from "./enabled-targets.ts";
export { targetRoutes } from "./target-routes.ts";
export { resolveTargets } from "./target-service.ts";
