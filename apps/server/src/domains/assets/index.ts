/** Public interface of assets: uploads, imports, records, processing and media. */
export { type AssetToCreate, createAsset } from "./asset-creation.ts";
export { type AssetExpiryDeps, expireAssets } from "./asset-expiry.ts";
export { readAssetMedia } from "./asset-media.ts";
export { assetRecord, readAsset } from "./asset-record.ts";
export { assetRoutes } from "./asset-routes.ts";
export { AssetService, checkLadder } from "./asset-service.ts";
export { type AssetTask, type AssetTaskDeps, mediaTask, outPrefixOf } from "./asset-task.ts";
export {
  type AssetUpkeepDeps,
  expireUploads,
  failLostUploads,
  purgeDeletedAssets,
  queueQuietAssets,
  removeUnwantedOriginals,
} from "./asset-upkeep.ts";
export { importTask } from "./import-task.ts";
export { processingTask } from "./processing-task.ts";
export { projectRoom } from "./project-room.ts";
export { findAssetRecord } from "./recording-asset.ts";
export { UploadDesk } from "./upload-desk.ts";
