/** Requests between the nodes of one server. */
export { clusterAddress, readClusterAddress, writeClusterAddress } from "./cluster-address.ts";
export { ClusterSeal } from "./cluster-seal.ts";
export { ClusterServer, type Forwarded, type ForwardedHandler } from "./cluster-server.ts";
export { type ForwardOptions, type NodePlace, OtherNodes } from "./other-nodes.ts";
