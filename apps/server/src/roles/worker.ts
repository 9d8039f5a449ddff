import type { Domains } from "../domains/index.ts";
import type { AssetProcessor, ClipMaker, FileExporter, FileTranscoder } from "../ports/index.ts";

/** The work that no request asks for. Stops with the domains. */
export function startWorker(domains: Domains): void {
  domains.housekeeping.start();
  domains.deliveries.start();
  domains.jobs.start();
}

async function noWork(): Promise<never> {
  throw new Error("this process works on no jobs: its roles are without the worker");
}

/** Of a process that works on no jobs. */
export const noClipMaker: ClipMaker = { make: noWork, findWindow: noWork, dropWindow: noWork };

/** As `noClipMaker`. */
export const noAssetProcessor: AssetProcessor = { process: noWork };

/** As `noClipMaker`. */
export const noFileTranscoder: FileTranscoder = { transcode: noWork };

/** As `noClipMaker`. */
export const noFileExporter: FileExporter = { send: noWork };
