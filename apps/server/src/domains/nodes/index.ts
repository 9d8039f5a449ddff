/** Public interface of nodes. */
export { NodeMembership, type NodeSettings } from "./node-membership.ts";
export type { ChangedRow, OpenSchema } from "./node-store.ts";
export {
  contractSchema,
  findMediaNodes,
  findPlace,
  hasExpiredNodes,
  isGivenUp,
  isNodeRunning,
  listNodes,
  mayContract,
  type ReachedNode,
  reachedNodes,
} from "./node-store.ts";
