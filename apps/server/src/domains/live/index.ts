/** Public interface of live publishing: the right to publish, the facts of the media floor, and the state that follows. */
export { FactQueue } from "./fact-queue.ts";
export { settleHeld } from "./held-streams.ts";
export { writeLiveFacts } from "./live-facts.ts";
export { lockLiveStreams } from "./live-stream.ts";
export { StreamPublishGate } from "./publish-gate.ts";
export { RefusedPublishes } from "./refused-publishes.ts";
export {
  endOverdueWindows,
  releaseStreamsOfGoneNodes,
  releaseStreamsOfNode,
  type StreamHousekeepingDeps,
} from "./stream-housekeeping.ts";
export { isActive } from "./stream-status.ts";
export { applyToStream } from "./stream-transition.ts";
