import { expect, it, onTestFinished } from "vitest";
import { AssetNotWanted, assetPrefix, type MediaIndex } from "../../ports/index.ts";
import { startTestDomains, type TestDomains, viewerOf } from "../domain-test-kit.ts";
import { EventLog } from "../events/index.ts";
import { newId, newPlaybackId } from "../ids.ts";
import { StoredAssetLedger } from "./stored-asset-ledger.ts";

async function started() {
  const kit = await startTestDomains();
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const told: string[] = [];
  const ledger = new StoredAssetLedger({
    ...kit,
    events: new EventLog(async (_trx, events) => {
      for (const { event } of events) told.push("event" in event.body ? event.body.event : event.body.type);
    }),
    accessChanged: async (playbackId) => kit.domains.accessChanged(playbackId),
  });
  return { kit, ledger, told, ...(await storedAsset(kit)) };
}

/** An asset whose file is whole and waits for a worker. */
async function storedAsset({ db, clock }: TestDomains) {
  const [id, taskId] = [newId(), newId()];
  const { id: projectId, user_id: userId } = await db
    .selectFrom("project")
    .select(["id", "user_id"])
    .executeTakeFirstOrThrow();
  const now = clock.now();
  const owner = { project_id: projectId, user_id: userId };
  const playbackId = newPlaybackId(id);
  await db
    .insertInto("task")
    .values({ ...owner, id: taskId, type: "upload", phase: "waiting", updated_at: now, created_at: now, params: "{}" })
    .execute();
  await db
    .insertInto("asset")
    .values({
      ...owner,
      id,
      task_id: taskId,
      name: "clip",
      playback_id: playbackId,
      source: JSON.stringify({ type: "directUpload" }),
      created_at: now,
      updated_at: now,
      phase: "waiting",
      source_key: `${assetPrefix(projectId, id)}source/original`,
      size: 1_000,
    })
    .execute();
  const media: MediaIndex = {
    id,
    projectId,
    keyPrefix: `${assetPrefix(projectId, id)}out/1/`,
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
  return { id, taskId, playbackId, media };
}

it("an asset without a file of its own, as a clip is, has the size of what was made", async () => {
  const { kit, ledger, id, media } = await started();
  await kit.db.updateTable("asset").set({ size: null }).where("id", "=", id).execute();
  await ledger.beginProcessing(id);
  await ledger.finished(id, media);
  const { size } = await kit.db.selectFrom("asset").select("size").where("id", "=", id).executeTakeFirstOrThrow();
  expect(Number(size)).toBe(7);
});

it("an asset is processed, can be watched before it is ready, and is ready once", async () => {
  const { kit, ledger, told, id, taskId, playbackId, media } = await started();
  const phases = async () => {
    const asset = await kit.db.selectFrom("asset").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const task = await kit.db.selectFrom("task").selectAll().where("id", "=", taskId).executeTakeFirstOrThrow();
    return [asset.phase, asset.progress, task.phase, task.progress];
  };
  expect((await kit.call("GET", `/api/playback/${playbackId}`)).statusCode).toBe(422);

  const work = await ledger.beginProcessing(id);
  expect(work).toMatchObject({ assetId: id, sourceBytes: 1_000, profiles: null, staticMp4: false, progress: 0 });
  await ledger.progressed(id, 0.4);
  await ledger.progressed(id, 0.2);
  expect(await phases()).toEqual(["processing", 0.4, "running", 0.4]);
  expect(await ledger.beginProcessing(id)).toMatchObject({ progress: 0.4, outPrefix: work?.outPrefix });

  expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toMatchObject({ ok: false });
  await ledger.playable(id, media);
  expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toMatchObject({
    ok: true,
    content: { kind: "asset", id, projectId: media.projectId },
  });
  expect(await kit.domains.playbackGate.mediaIndex({ kind: "asset", id, projectId: media.projectId })).toEqual({
    ...media,
    isGrowing: true,
  });
  const information = async () => (await kit.call("GET", `/api/playback/${playbackId}`, undefined, {})).json();
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

  await ledger.finished(id, media);
  expect(await phases()).toEqual(["ready", 1, "completed", 1]);

  // Its whole index is read for the first of those who ask, and not for each.
  const whole = await information();
  await kit.db.deleteFrom("asset_media").where("asset_id", "=", id).execute();
  expect(await information()).toEqual(whole);
  kit.clock.advance(5_000);
  expect(await information()).not.toEqual(whole);
  await expect(ledger.finished(id, media)).rejects.toThrow(AssetNotWanted);
  expect(await ledger.beginProcessing(id)).toBe(null);
  expect(told.filter((event) => !event.endsWith(".updated"))).toEqual(["asset.ready", "task.completed"]);
});

it("an asset that was deleted meanwhile is wanted no more", async () => {
  const { kit, ledger, id } = await started();
  await ledger.beginProcessing(id);
  await kit.db.updateTable("asset").set({ deleted_at: 1 }).where("id", "=", id).execute();
  await expect(ledger.progressed(id, 0.5)).rejects.toThrow(AssetNotWanted);
  expect(await ledger.beginProcessing(id)).toBe(null);
});

it("an asset that fails is played no more, though its source was", async () => {
  const { kit, ledger, id, playbackId, media } = await started();
  await ledger.beginProcessing(id);
  await ledger.playable(id, media);
  expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toMatchObject({ ok: true });
  await ledger.failed(id, "None of the pictures can be decoded: export it again.");
  expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toMatchObject({ ok: false });
  expect((await kit.call("GET", `/api/playback/${playbackId}`)).statusCode).toBe(422);
});

it("a failed asset says why, and so does its task", async () => {
  const { kit, ledger, told, id, taskId } = await started();
  await ledger.beginProcessing(id);
  await ledger.failed(id, "The file has neither pictures nor sound: upload a video.");
  const task = await kit.db.selectFrom("task").selectAll().where("id", "=", taskId).executeTakeFirstOrThrow();
  expect(task).toMatchObject({ phase: "failed", error: "The file has neither pictures nor sound: upload a video." });
  expect(told).toContain("asset.failed");
  expect(told).toContain("task.failed");
});

it("an asset whose file has captions and further languages warns its owner that they are left out", async () => {
  const { kit, ledger, id } = await started();
  await ledger.beginProcessing(id);
  const leftOut = [
    { type: "audio", count: 2, languages: ["deu", "fra"] },
    { type: "captions", count: 1, languages: [] },
  ] as const;
  await ledger.probed(id, { format: "mp4", duration: 1, tracks: [], leftOut });
  const asset = (await kit.call("GET", `/api/asset/${id}`)).json();
  expect(asset.warnings).toEqual([
    "The file has 2 further audio tracks (deu, fra). Weir left them out: an asset plays one audio track.",
    "The file has a caption track. Weir left it out: assets have no captions yet.",
  ]);
  expect(asset.videoSpec).toEqual({ format: "mp4", duration: 1, tracks: [] });
});
