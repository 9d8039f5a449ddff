/** Public interface of pulls. */
export { StreamPullGate } from "./pull-leases.ts";
export { checkPull, hidePull } from "./pull-source.ts";
export { endedPull, lockStreamsToPull, type PullKey, pullKeyOf, startPull } from "./pull-store.ts";
