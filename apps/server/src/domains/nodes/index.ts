/** Public interface of nodes. */
export { NodeMembership, type NodeSettings } from "./node-membership.ts";
export type { ChangedRow } from "./node-store.ts";
export { findMediaNodes, hasExpiredNodes, isNodeRunning, listNodes, nodeAddresses } from "./node-store.ts";
