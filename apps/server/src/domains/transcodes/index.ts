/** Public interface of transcodes, the tasks between this server and a customer's host: files are transcoded into a bucket, and files of assets are exported to a URL. */
export { exportTask } from "./export-task.ts";
export { transcodeRoutes } from "./transcode-routes.ts";
export { retryTranscode } from "./transcode-service.ts";
export { transcodeTask } from "./transcode-task.ts";
export { forgetFailedTranscodes, queueQuietTranscodes, type TranscodeUpkeepDeps } from "./transcode-upkeep.ts";
