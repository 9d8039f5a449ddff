/** The door of the assets: uploads, records, processing, playback of what was made. */
export { assetEvent, lockAsset, moveAsset, taskEvent } from "./asset-change.ts";
export { type AssetExpiryDeps, expireAssets } from "./asset-expiry.ts";
export { readAssetMedia } from "./asset-media.ts";
export { assetRecord, taskRecord } from "./asset-record.ts";
export { assetRoutes } from "./asset-routes.ts";
export { checkLadder } from "./asset-service.ts";
export { readAsset, readTask } from "./asset-snapshots.ts";
export { isSettled } from "./asset-status.ts";
export { insertAsset } from "./asset-store.ts";
export {
  type AssetUpkeepDeps,
  expireUploads,
  purgeDeletedAssets,
  queueQuietAssets,
  removeUnwantedOriginals,
} from "./asset-upkeep.ts";
export { brokenRunsSentence } from "./broken-runs.ts";
export { importJob } from "./import-job.ts";
export { clipJob, processingJob } from "./processing-job.ts";
export { projectRoom } from "./project-room.ts";
export { findAssetRecord } from "./recording-asset.ts";
export { withoutQuery } from "./signed-address.ts";
export { StoredAssetLedger } from "./stored-asset-ledger.ts";
export { type QueueAsset, UploadDesk } from "./upload-desk.ts";
