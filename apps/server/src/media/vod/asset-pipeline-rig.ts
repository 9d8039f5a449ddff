/** For tests: a pipeline with its own store and folder, and a ledger that records its reports. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { Turns } from "../../platform/limits/turns.ts";
import { silentLog } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { makeTestFolder } from "../../platform/test-folder.ts";
import {
  type AssetLedger,
  AssetNotWanted,
  type AssetWork,
  type MediaIndex,
  type VideoSpec,
} from "../../ports/index.ts";
import { ArchiveMp4 } from "../stored/archive-mp4.ts";
import { AssetPipeline } from "./asset-pipeline.ts";
import { SourceFiles } from "./source-files.ts";
import { VodChildren } from "./vod-children.ts";

/** Records the reports. */
export class KeptLedger implements AssetLedger {
  readonly told: string[] = [];
  playableMedia: MediaIndex | null = null;
  spec: VideoSpec | null = null;
  sentence = "";
  isWanted = true;
  readonly #work: AssetWork | null;
  #media: MediaIndex | null = null;

  constructor(work: AssetWork | null = null) {
    this.#work = work;
  }

  get media(): MediaIndex {
    return this.#media ?? expect.fail(this.sentence || "the pipeline made nothing");
  }

  async beginProcessing(): Promise<AssetWork | null> {
    return this.#work;
  }

  async progressed(): Promise<void> {
    if (!this.isWanted) throw new AssetNotWanted("deleted");
  }

  async probed(_id: string, spec: VideoSpec): Promise<void> {
    this.told.push("probed");
    this.spec = spec;
  }

  async playable(_id: string, media: MediaIndex): Promise<void> {
    this.told.push("playable");
    this.playableMedia = media;
  }

  async finished(_id: string, media: MediaIndex): Promise<void> {
    this.told.push("finished");
    this.#media = media;
  }

  async failed(_id: string, sentence: string): Promise<void> {
    this.told.push("failed");
    this.sentence = sentence;
  }
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
    const sources = new SourceFiles({ store, folder: join(folder, "sources"), freeBytes: () => 1e12 });
    await sources.open();
    const turns = { scans: new Turns({ atATime: 2 }), chunks: new Turns({ atATime: 1 }) };
    const settings = { clock: systemClock, log: silentLog, store, sources, children, ...turns, preset: "ultrafast" };
    return new AssetPipelineRig(folder, store, new AssetPipeline(settings));
  }

  /** The bytes of a rendition's MP4. */
  async mp4(media: MediaIndex, rendition: string): Promise<Buffer> {
    const { store } = this;
    const readInit = async (of: string, init: string) => buffer(await store.read(`${media.keyPrefix}${of}/${init}`));
    const built = await ArchiveMp4.build(media, readInit, new Slices(systemClock), rendition);
    const readSpan = async function* (of: string, span: string, range: { start: number; end: number }) {
      yield* await store.read(`${media.keyPrefix}${of}/${span}`, range);
    };
    return buffer(built.read({ start: 0, end: built.size - 1 }, readSpan));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
