/** The door of the nodes. */
export { NodeMembership, type NodeSettings } from "./node-membership.ts";
export { findServingMediaNode, listNodes } from "./node-store.ts";
