import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { AssetPipelineRig, KeptRun } from "./asset-pipeline-rig.ts";
import { decodePictures } from "./decoded-file-rig.ts";
import { type FileOptions, makeFile } from "./media-file-rig.ts";
import { everyFrame } from "./media-track-rig.ts";
import { FileRefused } from "./refusal.ts";
import { ChildFailed, type FileChildren, VodChildren } from "./vod-children.ts";

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

/** Counts jobs, and ends one of them as if its worker had been killed. */
class ChildrenOfTest extends VodChildren {
  readonly jobs: string[] = [];
  failsAt = "";

  override of(path: string): FileChildren {
    const children = super.of(path);
    const run = children.run.bind(children);
    children.run = async (job, ...rest) => {
      const name = job.type === "scan" ? "scan" : `chunk ${job.segments[0]?.msn}`;
      this.jobs.push(name);
      if (name === this.failsAt) throw new ChildFailed("killed");
      await run(job, ...rest);
    };
    return children;
  }
}

async function startRig(bytes: Uint8Array | null = null) {
  // Each start of a child adds a line.
  const starts = join(clip.path, `../starts-${randomUUID()}`);
  const children = new ChildrenOfTest(systemClock, {
    prefix: ["/bin/sh", "-c", `echo started >> "$0"; exec "$@"`, starts],
    bounds: [],
  });
  const rig = await AssetPipelineRig.open(children);
  if (bytes) await rig.store.put(SOURCE, bytes);
  else await rig.store.putFile(SOURCE, clip.path);
  const work = {
    assetId: "asset-1",
    projectId: "project-1",
    sourceKey: SOURCE,
    sourceBytes: 1,
    attempt: 1,
    outPrefix: OUT,
    profiles: [{ name: "small", height: 64, bitrate: 100_000 }],
    staticMp4: false,
    targetSegmentSeconds: null,
  };
  const run = new KeptRun();
  return {
    children,
    run,
    store: rig.store,
    mp4: rig.mp4.bind(rig),
    process: () => rig.pipeline.process(work, run),
    childrenStarted: async () => (await readFile(starts, "utf8")).split("\n").length - 1,
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

test("a playable source can be watched before its rungs are encoded, with bit-exact pictures", async () => {
  await using rig = await startRig();
  const { media, spec } = await rig.process();
  const { run, children } = rig;
  expect(run.spec).toEqual(spec);
  expect(children.jobs).toEqual(["scan", "chunk 1", "chunk 9"]);
  expect(await rig.childrenStarted()).toBe(1);
  expect(run.playable?.renditions.map(({ rendition }) => rendition)).toEqual(["source", "audio"]);
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

test("a run after a kill continues at the interrupted chunk and repeats no work", async () => {
  await using rig = await startRig();
  rig.children.failsAt = "chunk 9";
  await expect(rig.process()).rejects.toThrow(ChildFailed);
  rig.children.failsAt = "";
  rig.children.jobs.length = 0;
  const { media } = await rig.process();
  expect(rig.children.jobs).toEqual(["chunk 9"]);
  expect(media.renditions[1]?.segments).toHaveLength(15);
});

test("processing stops when nobody wants the asset any more", async () => {
  await using rig = await startRig();
  rig.run.isWanted = false;
  await expect(rig.process()).rejects.toThrow("the asset was deleted");
});

test("an aborted run ends its child", async () => {
  await using rig = await startRig();
  const running = rig.process();
  rig.run.closing.abort(new Error("closing"));
  await expect(running).rejects.toThrow("closing");
});

test("an invalid file fails with a message and leaves no objects", async () => {
  await using rig = await startRig(Buffer.from("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"));
  const failure: unknown = await rig.process().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(FileRefused);
  expect(failure).toMatchObject({ isFinal: true, message: expect.stringMatching(/^This file contains no readable/) });
  expect(await rig.store.size(`${OUT}notes/scan.json`)).toBeNull();
});
