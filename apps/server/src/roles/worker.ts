import type { Domains } from "../domains/index.ts";
import type { AssetProcessor, ClipMaker, FileTranscoder } from "../ports/index.ts";

/** The work that no request asks for. Stops with the domains. */
export function startWorker(domains: Domains): void {
  domains.housekeeping.start();
  domains.deliveries.start();
  domains.jobs.start();
}

/** Of a process that works on no jobs. */
export const noClipMaker: ClipMaker = {
  async make() {
    throw new Error("this process works on no jobs: its roles are without the worker");
  },
};

/** As `noClipMaker`. */
export const noAssetProcessor: AssetProcessor = {
  async process() {
    throw new Error("this process works on no jobs: its roles are without the worker");
  },
};

/** As `noClipMaker`. */
export const noFileTranscoder: FileTranscoder = {
  async transcode() {
    throw new Error("this process works on no jobs: its roles are without the worker");
  },
};
