/** Public interface of nodes. */
export { NodeMembership, type NodeSettings } from "./node-membership.ts";
export { findServingMediaNode, hasExpiredNodes, listNodes } from "./node-store.ts";
