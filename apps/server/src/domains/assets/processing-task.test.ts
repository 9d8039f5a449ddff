import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Asset, RequestedUpload, Task } from "@weir/contract";
import { expect, it, onTestFinished } from "vitest";
import type { Job } from "../../platform/queue/job.ts";
import { NoRoom } from "../../platform/storage/disk-failed.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";
import {
  type AssetProcessor,
  type AssetWork,
  type MadeMedia,
  type MediaIndex,
  ProcessingBroke,
  TaskFailed,
  type VideoSpec,
} from "../../ports/index.ts";
import { startTestDomains, viewerOf } from "../domain-test-kit.ts";
import { EventLog } from "../events/index.ts";
import { taskJob } from "../tasks/index.ts";
import { processingTask } from "./processing-task.ts";

const FILE = Buffer.from("the bytes of the file");
const SPEC: VideoSpec = { format: "mp4", duration: 1, tracks: [] };

/** An asset whose file is there, and a way to run its job with a media floor that does as told. */
async function startJob() {
  const kit = await startTestDomains();
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const requested = await kit.call("POST", "/api/asset/request-upload", { name: "clip" });
  const { id, projectId, playbackId } = requested.json<RequestedUpload>().asset;
  const taskId = requested.json<RequestedUpload>().task.id;
  const { uploads } = kit.domains;
  await uploads.received(id, FILE.length);
  await uploads.stored(id);
  const told: string[] = [];
  const deps = {
    ...kit,
    events: new EventLog(async (_trx, events) => {
      for (const { event } of events) told.push("event" in event.body ? event.body.event : event.body.type);
    }),
    accessChanged: async (about: string) => kit.domains.accessChanged(about),
    store: { read: async () => Readable.from([FILE.subarray(0, 5), FILE.subarray(5)]) },
  };
  const run = async (process: AssetProcessor["process"], signal = new AbortController().signal) => {
    const job: Job = { id: "j", data: { assetId: id }, signal };
    await taskJob(deps, processingTask({ ...deps, assetProcessor: { process } })).run(job);
  };
  const media: MediaIndex = {
    id,
    projectId,
    keyPrefix: `v1/${projectId}/asset/${id}/out/1/`,
    renditions: [
      {
        rendition: "source",
        track: { kind: "video", codec: "avc", config: "", timescale: 90_000, codecString: "avc1.64001f" },
        segments: [],
        spanBytes: new Map([["1-0000000001.m4s", 7]]),
      },
    ],
    mp4s: [{ name: "source", rendition: "source", bytes: 7, bitrate: 100 }],
  };
  const made: MadeMedia = { spec: SPEC, media };
  const asset = async () => (await kit.call("GET", `/api/asset/${id}`)).json<Asset>();
  const task = async () => (await kit.call("GET", `/api/task/${taskId}`)).json<Task>();
  return { kit, run, made, media, asset, task, told, id, taskId, playbackId };
}

const breaksOff: AssetProcessor["process"] = () => Promise.reject(new Error("the child died"));

it("a ready asset has the hashes of the stored file", async () => {
  const { run, made, asset } = await startJob();
  await run(async () => made);
  const hash = (algorithm: string) => ({ algorithm, hash: createHash(algorithm).update(FILE).digest("hex") });
  expect(await asset()).toMatchObject({
    status: { phase: "ready" },
    size: FILE.length,
    hash: [hash("md5"), hash("sha256")],
  });
});

it("processing that breaks off three times fails the asset; a retry by its owner begins to count anew", async () => {
  const { kit, run, asset, id } = await startJob();
  await expect(run(breaksOff)).rejects.toThrow("the child died");
  await expect(run(breaksOff)).rejects.toThrow("the child died");
  expect((await asset()).status.phase).toBe("processing");
  await run(breaksOff);
  expect((await asset()).status).toMatchObject({
    phase: "failed",
    errorMessage: expect.stringContaining("Processing broke off 3 times"),
  });
  expect((await kit.call("POST", `/api/asset/${id}/retry`)).statusCode).toBe(200);
  await expect(run(breaksOff)).rejects.toThrow("the child died");
  expect((await asset()).status.phase).toBe("processing");
});

it("an object store that is away for many runs fails no asset", async () => {
  const { run, made, asset } = await startJob();
  const away: AssetProcessor["process"] = () =>
    Promise.reject(new StoreFailed("write", "v1/some/key", { status: 503, code: "SlowDown" }));
  for (let runs = 0; runs < 10; runs++) await expect(run(away)).rejects.toThrow(StoreFailed);
  expect((await asset()).status.phase).toBe("processing");
  await run(async () => made);
  expect((await asset()).status.phase).toBe("ready");
});

it.each([
  Object.assign(new Error("EROFS: read-only file system, mkdtemp '/data/clips/clip-'"), { code: "EROFS" }),
  new NoRoom("the disk of the object store is almost full"),
])("a disk that is read-only or full for many runs fails no asset: %s", async (failure) => {
  const { run, made, asset } = await startJob();
  for (let runs = 0; runs < 10; runs++) await expect(run(() => Promise.reject(failure))).rejects.toThrow(failure);
  expect((await asset()).status.phase).toBe("processing");
  await run(async () => made);
  expect((await asset()).status.phase).toBe("ready");
});

it("an asset that is given up names what its media child died of", async () => {
  const { run, asset } = await startJob();
  const dies: AssetProcessor["process"] = async () => {
    throw new ProcessingBroke("the media child ended with RangeError: 7452000000 is out of range (bytes.ts:54)");
  };
  for (let runs = 0; runs < 2; runs++) await expect(run(dies)).rejects.toThrow(ProcessingBroke);
  await run(dies);
  expect((await asset()).status).toMatchObject({
    phase: "failed",
    errorMessage: expect.stringContaining("failed 3 times: the media child ended with RangeError: 7452000000"),
  });
});

it("a process that closes counts for nothing", async () => {
  const { run, asset } = await startJob();
  for (let closes = 0; closes < 5; closes++) {
    const closing = new AbortController();
    const process: AssetProcessor["process"] = async () => {
      closing.abort(new Error("closing"));
      throw new Error("interrupted");
    };
    await expect(run(process, closing.signal)).rejects.toThrow();
  }
  expect((await asset()).status.phase).toBe("processing");
});

it("an asset is processed, can be watched before it is ready, and is ready once", async () => {
  const { kit, run, made, media, asset, task, told, id, playbackId } = await startJob();
  const phases = async () => [(await asset()).status, (await task()).status].map(({ phase }) => phase);
  const content = { kind: "asset", id, projectId: media.projectId } as const;
  const information = async () => (await kit.call("GET", `/api/playback/${playbackId}`, undefined, {})).json();
  expect((await kit.call("GET", `/api/playback/${playbackId}`)).statusCode).toBe(422);

  const works: AssetWork[] = [];
  await expect(
    run(async (work, { progressed }) => {
      works.push(work);
      await progressed(0.4);
      throw new Error("the child died");
    }),
  ).rejects.toThrow("the child died");
  expect(works).toMatchObject([{ assetId: id, sourceBytes: FILE.length, profiles: null, staticMp4: false }]);
  expect((await asset()).status.progress).toBe(0.4);

  await run(async (work, { scanned, progressed }) => {
    // The files of the run before are found again, and its progress stays.
    expect(work).toEqual(works[0]);
    await progressed(0.2);
    expect([await phases(), (await task()).status.progress]).toEqual([["processing", "running"], 0.4]);
    expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toMatchObject({ ok: false });
    await scanned(SPEC, media);
    expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toMatchObject({ ok: true, content });
    expect(await kit.domains.mediaCatalogue.mediaIndex(content)).toEqual({ ...media, isGrowing: true });
    expect(await information()).toEqual({
      type: "vod",
      meta: {
        playbackPolicy: null,
        source: [
          {
            hrn: "MP4",
            type: "html5/video/mp4",
            url: `http://weir.test/asset/hls/${playbackId}/staticsource.mp4`,
            size: 7,
            bitrate: 100,
          },
          {
            hrn: "HLS (TS)",
            type: "html5/application/vnd.apple.mpegurl",
            url: `http://weir.test/asset/hls/${playbackId}/index.m3u8`,
          },
        ],
        startedAt: 1_700_000_000_000,
      },
    });
    return made;
  });
  expect(await phases()).toEqual(["ready", "completed"]);

  // Its whole index is read for the first of those who ask, and not for each.
  const whole = await information();
  await kit.db.deleteFrom("asset_media").where("asset_id", "=", id).execute();
  expect(await information()).toEqual(whole);
  kit.clock.advance(5_000);
  expect(await information()).not.toEqual(whole);
  await run(() => expect.unreachable("it is ready"));
  expect(told.filter((event) => !event.endsWith(".updated"))).toEqual(["asset.ready", "task.completed"]);
});

it.each<[string, (deleted: () => Promise<unknown>) => AssetProcessor["process"]]>([
  [
    "stops when it reports",
    (deleted) =>
      async (_work, { progressed }) => {
        await deleted();
        await progressed(0.5);
        return expect.unreachable("the report throws");
      },
  ],
  [
    "stores nothing when it is done",
    (deleted) => async () => {
      await deleted();
      return { spec: SPEC, media: {} as MediaIndex };
    },
  ],
  [
    "counts for nothing when it breaks off",
    (deleted) => async () => {
      await deleted();
      throw new Error("gone");
    },
  ],
])("a run for an asset that was deleted meanwhile %s", async (_situation, processOf) => {
  const { kit, run, id, told } = await startJob();
  await run(processOf(() => kit.call("DELETE", `/api/asset/${id}`)));
  const row = await kit.db.selectFrom("asset").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  expect(row).toMatchObject({ phase: "processing", broken_runs: 0, playable_at: null });
  await run(() => expect.unreachable("nobody wants it"));
  expect(told.filter((event) => !event.endsWith(".updated"))).toEqual([]);
});

it("an asset that fails says why, as does its task, and is played no more, though its source was", async () => {
  const { kit, run, media, asset, task, told, playbackId } = await startJob();
  await run(async (_work, { scanned }) => {
    await scanned(SPEC, media);
    expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toMatchObject({ ok: true });
    throw new TaskFailed("None of the pictures can be decoded: export it again.", { isFinal: true });
  });
  expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toMatchObject({ ok: false });
  expect((await kit.call("GET", `/api/playback/${playbackId}`)).statusCode).toBe(422);
  const status = { phase: "failed", errorMessage: "None of the pictures can be decoded: export it again." };
  expect([await asset(), await task()]).toMatchObject([{ status }, { status }]);
  expect(told).toEqual(expect.arrayContaining(["asset.failed", "task.failed"]));
});

it("an asset whose file has captions and further languages warns its owner that they are left out", async () => {
  const { run, media, asset } = await startJob();
  const leftOut = [
    { type: "audio", count: 2, languages: ["deu", "fra"] },
    { type: "captions", count: 1, languages: [] },
  ] as const;
  await run(async (_work, { scanned }) => {
    await scanned({ ...SPEC, leftOut }, null);
    const { warnings, videoSpec } = await asset();
    expect(warnings).toEqual([
      "The file has 2 further audio tracks (deu, fra). Weir left them out: an asset plays one audio track.",
      "The file has a caption track. Weir left it out: assets have no captions yet.",
    ]);
    expect(videoSpec).toEqual(SPEC);
    return { spec: { ...SPEC, leftOut }, media };
  });
  expect((await asset()).warnings).toHaveLength(2);
});

it.each([
  { status: 403, code: "QuotaExceeded" },
  { status: 403, code: "RequestTimeTooSkewed" },
  { status: 400, code: "RequestTimeout" },
  { status: 404, code: "NoSuchBucket" },
])("an object store that refuses with $status $code for many runs fails no asset", async (answer) => {
  const { run, made, asset } = await startJob();
  const refuses: AssetProcessor["process"] = () => Promise.reject(new StoreFailed("write", "v1/some/key", answer));
  for (let runs = 0; runs < 10; runs++) await run(refuses).catch(() => {});
  expect((await asset()).status.phase).toBe("processing");
  await run(async () => made);
  expect((await asset()).status.phase).toBe("ready");
});
