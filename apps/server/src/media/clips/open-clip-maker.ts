import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ClipMaker } from "../../ports/index.ts";
import type { AssetPipelineNeeds } from "../vod/open-asset-pipeline.ts";
import { VodChildren } from "../vod/vod-children.ts";
import { ClipPipeline } from "./clip-pipeline.ts";

/** A user waits for the clip, and only its edges are encoded. */
const PRESET = "veryfast";

type Needs = Omit<AssetPipelineNeeds, "log" | "liveCores">;

/** Opens this node's clip maker and removes files of an earlier run. */
export async function openClipMaker({ clock, store, dataFolder, confinement }: Needs): Promise<ClipMaker> {
  const folder = join(dataFolder, "clips");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const children = new VodChildren(clock, confinement);
  return new ClipPipeline({ clock, store, children, folder, preset: PRESET });
}
