/** The door of the streams. */
export { FactQueue } from "./fact-queue.ts";
export { writeLiveFacts } from "./live-facts.ts";
export { StreamPublishGate } from "./publish-gate.ts";
export {
  endOverdueWindows,
  releaseStreamsOfGoneNodes,
  releaseStreamsOfNode,
  type StreamHousekeepingDeps,
} from "./stream-housekeeping.ts";
export { streamRoutes } from "./stream-routes.ts";
export { readStream } from "./stream-snapshot.ts";
