/** For tests: a pipeline with its own store and folder, and a run that keeps its reports. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { systemClock } from "../../platform/clock.ts";
import { Turns } from "../../platform/limits/turns.ts";
import { silentLog } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { makeTestFolder } from "../../platform/test-folder-rig.ts";
import type { AssetRun, MediaIndex, VideoSpec } from "../../ports/index.ts";
import { ArchiveMp4 } from "../stored/archive-mp4.ts";
import { StoredMedia } from "../stored/stored-media.ts";
import { AssetPipeline } from "./asset-pipeline.ts";
import { SourceFiles } from "./source-files.ts";
import { VodChildren } from "./vod-children.ts";

/** A run that keeps what it reports. */
export class KeptRun implements AssetRun {
  readonly closing = new AbortController();
  readonly signal = this.closing.signal;
  spec: VideoSpec | null = null;
  playable: MediaIndex | null = null;
  isWanted = true;

  progressed = async (): Promise<void> => {
    if (!this.isWanted) throw new Error("the asset was deleted");
  };

  scanned = async (spec: VideoSpec, media: MediaIndex | null): Promise<void> => {
    this.spec = spec;
    this.playable = media;
  };
}

export class AssetPipelineRig implements AsyncDisposable {
  readonly folder: string;
  readonly store: LocalObjectStore;
  readonly pipeline: AssetPipeline;

  private constructor(folder: string, store: LocalObjectStore, pipeline: AssetPipeline) {
    this.folder = folder;
    this.store = store;
    this.pipeline = pipeline;
  }

  static async open(children = new VodChildren(systemClock)): Promise<AssetPipelineRig> {
    const folder = makeTestFolder("assets");
    const store = new LocalObjectStore(join(folder, "objects"));
    await store.open();
    const sources = new SourceFiles(store, join(folder, "sources"), () => 1e12);
    await sources.open();
    const turns = { scans: new Turns({ atATime: 2 }), chunks: new Turns({ atATime: 1 }) };
    const settings = { clock: systemClock, log: silentLog, store, sources, children, ...turns, preset: "ultrafast" };
    return new AssetPipelineRig(folder, store, new AssetPipeline(settings));
  }

  /** The bytes of a rendition's MP4. */
  async mp4(media: MediaIndex, rendition: string): Promise<Buffer> {
    const { store } = this;
    const built = await ArchiveMp4.build(new StoredMedia(media, store), new Slices(systemClock), rendition);
    return buffer(built.read());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
