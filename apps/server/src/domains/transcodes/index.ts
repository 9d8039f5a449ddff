/** The door of transcodes: tasks that bring a customer's file through the encoder and back to a bucket of theirs. */
export { transcodeJob } from "./transcode-job.ts";
export { transcodeRoutes } from "./transcode-routes.ts";
export { TranscodeService } from "./transcode-service.ts";
export type { QueueTranscode } from "./transcode-store.ts";
export { queueQuietTranscodes, type TranscodeUpkeepDeps } from "./transcode-upkeep.ts";
