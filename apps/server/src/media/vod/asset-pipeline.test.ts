import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { makeTestFolder } from "../../platform/test-folder.ts";
import { type AssetLedger, AssetNotWanted, type AssetWork, type MediaIndex } from "../../ports/index.ts";
import { ArchiveMp4 } from "../delivery/archive/archive-mp4.ts";
import { AssetPipeline } from "./asset-pipeline.ts";
import { SourceFiles } from "./source-files.ts";
import { ChildFailed, VodChildren } from "./vod-children.ts";
import type { VodJob } from "./vod-protocol.ts";
import { decodePictures, everyFrame, type FileOptions, makeFile } from "./vod-rig.ts";
import { VodTurns } from "./vod-turns.ts";

const SOURCE = "v1/project-1/asset/asset-1/source/1/original";
const OUT = "v1/project-1/asset/asset-1/out/1/";
const LONG: FileOptions = {
  format: "mp4",
  video: { encoder: "libx264", options: { preset: "ultrafast" }, times: everyFrame(5, 60), gopFrames: 10 },
  audio: { encoder: "aac", seconds: 60 },
};

let clip: Awaited<ReturnType<typeof makeFile>>;
beforeAll(async () => {
  clip = await makeFile(LONG);
});
afterAll(() => clip[Symbol.asyncDispose]());

/** Keeps what is told. */
class LedgerOfTest implements AssetLedger {
  readonly told: string[] = [];
  playableMedia: MediaIndex | null = null;
  media: MediaIndex | null = null;
  sentence = "";
  isWanted = true;
  readonly #work: AssetWork;

  constructor(work: AssetWork) {
    this.#work = work;
  }

  async beginProcessing(): Promise<AssetWork | null> {
    return this.#work;
  }

  async progressed(): Promise<void> {
    if (!this.isWanted) throw new AssetNotWanted("deleted");
  }

  async probed(): Promise<void> {
    this.told.push("probed");
  }

  async playable(_id: string, media: MediaIndex): Promise<void> {
    this.told.push("playable");
    this.playableMedia = media;
  }

  async finished(_id: string, media: MediaIndex): Promise<void> {
    this.told.push("finished");
    this.media = media;
  }

  async failed(_id: string, sentence: string): Promise<void> {
    this.told.push("failed");
    this.sentence = sentence;
  }
}

/** Counts jobs, and ends one of them as if its worker had been killed. */
class ChildrenOfTest extends VodChildren {
  readonly jobs: string[] = [];
  failsAt = "";

  override async run(
    job: VodJob,
    ...rest: Parameters<VodChildren["run"]> extends [VodJob, ...infer Rest] ? Rest : never
  ) {
    const name = job.type === "scan" ? "scan" : `chunk ${job.segments[0]?.msn}`;
    this.jobs.push(name);
    if (name === this.failsAt) throw new ChildFailed("killed");
    await super.run(job, ...rest);
  }
}

async function startRig(bytes: Uint8Array | null = null) {
  const folder = makeTestFolder("assets");
  const store = new LocalObjectStore(join(folder, "objects"));
  await store.open();
  if (bytes) await store.put(SOURCE, bytes);
  else await store.putFile(SOURCE, clip.path);
  const sources = new SourceFiles({ store, folder: join(folder, "sources"), freeBytes: () => 1e12 });
  await sources.open();
  const children = new ChildrenOfTest(systemClock);
  const pipeline = new AssetPipeline({
    clock: systemClock,
    log: silentLog,
    store,
    sources,
    children,
    scans: new VodTurns(() => 2),
    chunks: new VodTurns(() => 1),
    preset: "ultrafast",
  });
  const ledger = new LedgerOfTest({
    ...{ assetId: "asset-1", projectId: "project-1", sourceKey: SOURCE, sourceBytes: 1, attempt: 1, outPrefix: OUT },
    ...{
      profiles: [{ name: "small", height: 64, bitrate: 100_000 }],
      staticMp4: false,
      targetSegmentSeconds: null,
      progress: 0,
    },
  });
  const readInit = async (rendition: string, init: string) => buffer(await store.read(`${OUT}${rendition}/${init}`));
  const mp4 = async (media: MediaIndex, rendition: string) => {
    const built = await ArchiveMp4.build(media, readInit, new Slices(systemClock), rendition);
    const read = async function* (of: string, span: string, range: { start: number; end: number }) {
      yield* await store.read(`${OUT}${of}/${span}`, range);
    };
    return buffer(built.read({ start: 0, end: built.size - 1 }, read));
  };
  const signal = new AbortController();
  return {
    ...{ store, children, ledger, mp4, signal },
    process: () => pipeline.process("asset-1", ledger, signal.signal),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

test("a source that players take plays before its rungs are made, and is bit for bit the same pictures", async () => {
  await using rig = await startRig();
  await rig.process();
  const { ledger, children } = rig;
  expect(ledger.told).toEqual(["probed", "playable", "finished"]);
  expect(children.jobs).toEqual(["scan", "chunk 1", "chunk 9"]);
  expect(ledger.playableMedia?.renditions.map(({ rendition }) => rendition)).toEqual(["source", "audio"]);
  const media = ledger.media as MediaIndex;
  expect(media.renditions.map(({ rendition }) => rendition)).toEqual(["source", "v0", "audio"]);
  const [source, small] = media.renditions;
  expect(small?.segments.map(({ msn, startTicks, durationTicks }) => [msn, startTicks, durationTicks])).toEqual(
    source?.segments.map(({ msn, startTicks, durationTicks }) => [msn, startTicks, durationTicks]),
  );
  expect(media.mp4s?.map(({ name, rendition, width, height }) => [name, rendition, width, height])).toEqual([
    ["source", "source", 160, 96],
    ["small", "v0", 106, 64],
  ]);
  for (const { rendition, bytes } of media.mp4s ?? []) {
    const file = await rig.mp4(media, rendition);
    expect(file.byteLength).toBe(bytes);
    const pictures = await decodePictures(file);
    expect(pictures.map(({ number }) => number)).toEqual(Array.from({ length: 300 }, (_, n) => n % 50));
    expect(pictures.at(-1)?.seconds).toBeCloseTo((pictures[0]?.seconds ?? 0) + 59.8, 2);
  }
});

test("a run that follows a killed one goes on at its chunk, and makes nothing twice", async () => {
  await using rig = await startRig();
  rig.children.failsAt = "chunk 9";
  await expect(rig.process()).rejects.toThrow(ChildFailed);
  rig.children.failsAt = "";
  rig.children.jobs.length = 0;
  await rig.process();
  expect(rig.children.jobs).toEqual(["chunk 9"]);
  expect(rig.ledger.media?.renditions[1]?.segments).toHaveLength(15);
});

test("a deleted asset is given up, and its owner's wish let through", async () => {
  await using rig = await startRig();
  rig.ledger.isWanted = false;
  await expect(rig.process()).rejects.toThrow(AssetNotWanted);
});

test("an aborted run ends its child", async () => {
  await using rig = await startRig();
  const running = rig.process();
  rig.signal.abort(new Error("closing"));
  await expect(running).rejects.toThrow("closing");
});

test("a file that is none fails with a sentence, and leaves nothing behind", async () => {
  await using rig = await startRig(Buffer.from("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"));
  await rig.process();
  expect(rig.ledger.told).toEqual(["failed"]);
  expect(rig.ledger.sentence).toMatch(/^This file holds no video or audio that can be read/);
  expect(await rig.store.size(`${OUT}notes/scan.json`)).toBeNull();
});
