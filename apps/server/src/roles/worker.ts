import type { Domains } from "../domains/index.ts";
import type { AssetProcessor } from "../ports/index.ts";

/** The work that no request asks for. Stops with the domains. */
export function startWorker(domains: Domains): void {
  domains.housekeeping.start();
  domains.deliveries.start();
  domains.jobs.start();
}

/** Where nothing can process files, an asset fails, and says so. */
export const noAssetProcessor: AssetProcessor = {
  async process(assetId, ledger) {
    if (await ledger.beginProcessing(assetId)) await ledger.failed(assetId, "This server cannot process files yet.");
  },
};
