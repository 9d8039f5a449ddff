/** Requests between the nodes of one server. */
export { clusterAddress, readClusterAddress, writeClusterAddress, writeLocalAddress } from "./cluster-address.ts";
export { ClusterSeal } from "./cluster-seal.ts";
export { type ClusterHandlers, ClusterServer, type Forwarded } from "./cluster-server.ts";
export { type ForwardOptions, type NodePlace, OtherNodes } from "./other-nodes.ts";
