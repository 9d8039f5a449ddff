import { join } from "node:path";
import { availableCores } from "../../platform/available-cores.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Confinement } from "../../platform/confinement/confinement.ts";
import { freeBytesOf } from "../../platform/data-folder.ts";
import type { Log } from "../../platform/log.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import type { AssetProcessor } from "../../ports/index.ts";
import { AssetPipeline } from "./asset-pipeline.ts";
import { SourceFiles } from "./source-files.ts";
import { VodBudget } from "./vod-budget.ts";
import { VodChildren } from "./vod-children.ts";

/** Nobody waits for the picture that is encoded, so more is spent on it than on a live one. */
const PRESET = "veryfast";

export interface AssetPipelineNeeds {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly dataFolder: string;
  readonly confinement: Confinement;
  /** Cores that live transcoding counts with on this machine. */
  readonly liveCores: () => number;
}

/** What makes customers' files playable on this node. */
export async function openAssetPipeline(needs: AssetPipelineNeeds): Promise<AssetProcessor> {
  const { clock, log, store, dataFolder, confinement, liveCores } = needs;
  const folder = join(dataFolder, "sources");
  const sources = new SourceFiles({ store, folder, freeBytes: () => freeBytesOf(dataFolder) });
  await sources.open();
  const children = new VodChildren(clock, confinement);
  const budget = new VodBudget({ cores: availableCores(), liveCores });
  return new AssetPipeline({ clock, log, store, sources, children, budget, preset: PRESET });
}
