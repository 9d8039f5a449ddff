import type { Domains } from "../domains/index.ts";
import { openAssetPipeline, openClipMaker, StoredFileExporter, StoredFileTranscoder } from "../media/index.ts";
import type { Confinement } from "../platform/confinement/confinement.ts";
import { freeBytesOf } from "../platform/data-folder.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import type { UploadServer } from "../platform/uploads/upload-server.ts";
import type { Opening } from "./opening.ts";

export interface WorkerSettings {
  readonly domains: Domains;
  readonly uploads: UploadServer;
  readonly confinement: Confinement;
  readonly outbound: Outbound;
  /** Cores in use by live transcoding, which comes first. */
  liveCores(): number;
}

/** The work that no request asks for. Stops with the domains. */
export async function startWorker(opening: Opening, settings: WorkerSettings): Promise<void> {
  const { clock, log, store, dataFolder } = opening;
  const { domains, uploads, confinement, outbound, liveCores } = settings;
  const assetProcessor = await openAssetPipeline({ clock, log, store, dataFolder, confinement, liveCores });
  const freeBytes = () => freeBytesOf(dataFolder);
  domains.housekeeping.start();
  domains.deliveries.start();
  domains.jobs.start({
    assetProcessor,
    clipMaker: await openClipMaker({ clock, store, dataFolder, confinement }),
    fileTranscoder: new StoredFileTranscoder({ clock, store, outbound, processor: assetProcessor, freeBytes }),
    fileExporter: new StoredFileExporter({ clock, store, outbound }),
    importFile: (request) => uploads.import(request),
  });
}
