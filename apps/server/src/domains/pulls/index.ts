/** Public interface of pulls. */
export { StreamPullGate } from "./pull-leases.ts";
export { checkPull, hidePull } from "./pull-source.ts";
export { changedPull, endedPull, lockStreamsToPull, type PullKey, pullKeyOf, startPull } from "./pull-store.ts";
export { PullTrials } from "./pull-trials.ts";
export { WantedPulls } from "./wanted-pulls.ts";
export { pullStatus } from "./watched-pulls.ts";
