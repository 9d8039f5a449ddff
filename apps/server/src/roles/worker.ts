import type { Domains } from "../domains/index.ts";
import { openAssetPipeline, openClipMaker, StoredFileExporter, StoredFileTranscoder } from "../media/index.ts";
import type { Confinement } from "../platform/confinement/confinement.ts";
import { freeBytesOf } from "../platform/data-folder.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import type { AssetProcessor, ClipMaker, FileExporter, FileTranscoder } from "../ports/index.ts";
import type { Opening } from "./opening.ts";

export interface Processors {
  readonly assetProcessor: AssetProcessor;
  readonly clipMaker: ClipMaker;
  readonly fileTranscoder: FileTranscoder;
  readonly fileExporter: FileExporter;
}

export interface ProcessorSettings {
  readonly confinement: Confinement;
  readonly outbound: Outbound;
  /** Cores in use by live transcoding, which comes first. */
  liveCores(): number;
}

/** What works on jobs; without the role worker, each refuses. */
export async function openProcessors(opening: Opening, settings: ProcessorSettings): Promise<Processors> {
  const { config, clock, log, store, dataFolder } = opening;
  const { confinement, outbound, liveCores } = settings;
  if (!config.roles.includes("worker")) return IDLE;
  const assetProcessor = await openAssetPipeline({ clock, log, store, dataFolder, confinement, liveCores });
  const freeBytes = () => freeBytesOf(dataFolder);
  return {
    assetProcessor,
    clipMaker: await openClipMaker({ clock, store, dataFolder, confinement }),
    fileTranscoder: new StoredFileTranscoder({ clock, store, outbound, processor: assetProcessor, freeBytes }),
    fileExporter: new StoredFileExporter({ clock, store, outbound }),
  };
}

/** The work that no request asks for. Stops with the domains. */
export function startWorker(domains: Domains): void {
  domains.housekeeping.start();
  domains.deliveries.start();
  domains.jobs.start();
}

async function noWork(): Promise<never> {
  throw new Error("this process works on no jobs: its roles are without the worker");
}

const IDLE: Processors = {
  assetProcessor: { process: noWork },
  clipMaker: { make: noWork, findWindow: noWork, dropWindow: noWork },
  fileTranscoder: { transcode: noWork },
  fileExporter: { send: noWork },
};
