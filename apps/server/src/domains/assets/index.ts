/** The door of the assets. */
export { readAssetMedia } from "./asset-media.ts";
export { processingJob } from "./processing-job.ts";
export { StoredAssetLedger } from "./stored-asset-ledger.ts";
