/** The door of transcodes: tasks between this server and a place of the customer's. Their files come, are transcoded and go back to a bucket; the files of assets are exported to an address. */
export { exportJob } from "./export-job.ts";
export { transcodeJob } from "./transcode-job.ts";
export { transcodeRoutes } from "./transcode-routes.ts";
export { TranscodeService } from "./transcode-service.ts";
export type { QueueTask } from "./transcode-store.ts";
export { queueQuietTranscodes, type TranscodeUpkeepDeps } from "./transcode-upkeep.ts";
