import { join } from "node:path";
import { availableCores } from "../../platform/available-cores.ts";
import type { Confinement } from "../../platform/confinement/confinement.ts";
import { freeBytesOf } from "../../platform/data-folder.ts";
import { Turns } from "../../platform/limits/turns.ts";
import type { AssetProcessor } from "../../ports/index.ts";
import { AssetPipeline, type AssetPipelineSettings } from "./asset-pipeline.ts";
import { SourceFiles } from "./source-files.ts";
import { VodChildren } from "./vod-children.ts";

/** Encoding is not in real time, so it can afford a slower preset than live transcoding. */
const PRESET = "veryfast";
const SCANS_AT_ONCE = 2;

/** A child decodes one file and encodes several rungs in parallel. */
const CORES_PER_CHILD = 2;

export interface AssetPipelineNeeds extends Pick<AssetPipelineSettings, "clock" | "log" | "store"> {
  readonly dataFolder: string;
  readonly confinement: Confinement;
  /** Number of cores that live transcoding reserves on this machine. */
  readonly liveCores: () => number;
}

/** Opens this node's pipeline that makes customers' files playable. */
export async function openAssetPipeline(needs: AssetPipelineNeeds): Promise<AssetProcessor> {
  const { clock, log, store, dataFolder, confinement, liveCores } = needs;
  const folder = join(dataFolder, "sources");
  const sources = new SourceFiles(store, folder, () => freeBytesOf(dataFolder));
  await sources.open();
  const children = new VodChildren(clock, confinement);
  const scans = new Turns({ atATime: SCANS_AT_ONCE });
  const cores = availableCores();
  const chunks = new Turns({ atATime: () => encodingSlots(cores, liveCores()) });
  return new AssetPipeline({ clock, log, store, sources, children, scans, chunks, preset: PRESET });
}

/** How many children may encode files: as many as live transcoding leaves cores for, and at least one, which runs at low priority. */
export function encodingSlots(cores: number, liveCores: number): number {
  return Math.max(1, Math.floor((cores - liveCores) / CORES_PER_CHILD));
}
