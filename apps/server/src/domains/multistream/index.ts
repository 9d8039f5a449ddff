/** The door of the multistream targets. */
export { enabledTargets, type NamedTarget, targetsToForward } from "./enabled-targets.ts";
export { resolveTargets } from "./new-targets.ts";
export { targetRoutes } from "./target-routes.ts";
export { endTargets, nextTargetStates, targetEvents, targetStatus } from "./target-states.ts";
export { tellTargetsChanged } from "./tell-targets-changed.ts";
