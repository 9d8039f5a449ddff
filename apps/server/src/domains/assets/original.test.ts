import { describe, expect, it, onTestFinished } from "vitest";
import { assetPrefix } from "../../ports/index.ts";
import { startTestDomains, viewerOf } from "../domain-test-kit.ts";

async function started(settings: Parameters<typeof startTestDomains>[0] = {}) {
  const kit = await startTestDomains(settings);
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const upload = async (options: object = {}) => {
    const { asset } = (await kit.call("POST", "/api/asset/request-upload", { name: "holiday", ...options })).json();
    return asset;
  };
  /** As processing leaves it. */
  const ready = async (id: string, projectId: string) => {
    const hash = JSON.stringify([{ algorithm: "sha256", hash: "ab" }]);
    const source_key = `${assetPrefix(projectId, id)}source/original`;
    const set = { phase: "ready", playable_at: kit.clock.now(), source_key, size: 9, hash } as const;
    await kit.db.updateTable("asset").set(set).where("id", "=", id).execute();
    const media = JSON.stringify({ id, projectId, keyPrefix: "", renditions: [] });
    await kit.db.insertInto("asset_media").values({ asset_id: id, media }).execute();
    return source_key;
  };
  const get = async (id: string) => (await kit.call("GET", `/api/asset/${id}`)).json();
  const indexOf = (id: string, projectId: string) =>
    kit.domains.mediaCatalogue.mediaIndex({ kind: "asset", id, projectId });
  return { kit, upload, ready, get, indexOf };
}

describe("the original of an asset", () => {
  it("is kept and offered, beside the MP4 that plays", async () => {
    const { kit, upload, ready, get, indexOf } = await started();
    const { id, playbackId, projectId, keepOriginal } = await upload();
    expect(keepOriginal).toBe(true);
    const key = await ready(id, projectId);
    await kit.domains.housekeeping.tick();
    expect((await get(id)).downloadUrl).toBe(`http://weir.test/asset/hls/${playbackId}/original`);
    expect((await indexOf(id, projectId))?.original).toEqual({ key, bytes: 9, sha256: "ab", name: "holiday" });
    expect(kit.asked.removedKeys).toEqual([]);
  });

  it("is removed once the asset is ready where the upload does not keep it", async () => {
    const { kit, upload, ready, get, indexOf } = await started();
    const { id, playbackId, projectId } = await upload({ keepOriginal: false });
    const key = await ready(id, projectId);
    await kit.db.updateTable("asset").set({ phase: "failed" }).where("id", "=", id).execute();
    await kit.domains.housekeeping.tick();
    expect(kit.asked.removedKeys).toEqual([]);
    await kit.db.updateTable("asset").set({ phase: "ready" }).where("id", "=", id).execute();
    await kit.domains.housekeeping.tick();
    expect(kit.asked.removedKeys).toEqual([key]);
    expect((await get(id)).downloadUrl).toBe(`http://weir.test/asset/hls/${playbackId}/staticsource.mp4`);
    expect((await indexOf(id, projectId))?.original).toBe(undefined);
  });

  it("that cannot be removed keeps back no other, and is removed later", async () => {
    const { kit, upload, ready } = await started();
    const assets = await Promise.all([1, 2, 3].map(() => upload({ keepOriginal: false })));
    const keys: string[] = [];
    for (const { id, projectId } of assets) keys.push(await ready(id, projectId));
    const [stuck = "", ...others] = keys;
    kit.asked.stuckKeys.push(stuck);
    await kit.domains.housekeeping.tick();
    expect(kit.asked.removedKeys.toSorted()).toEqual(others.toSorted());
    kit.asked.stuckKeys.pop();
    await kit.domains.housekeeping.tick();
    expect(kit.asked.removedKeys).toContain(stuck);
  });

  it("is not kept while the disk is almost full, unless the upload asks for it", async () => {
    const disk = { isRoomy: true };
    const { upload } = await started({ keepOriginals: () => disk.isRoomy });
    expect((await upload()).keepOriginal).toBe(true);
    disk.isRoomy = false;
    expect((await upload()).keepOriginal).toBe(false);
    expect((await upload({ keepOriginal: true })).keepOriginal).toBe(true);
  });

  it("is neither offered nor removed for an asset of an earlier version", async () => {
    const { kit, upload, ready, get, indexOf } = await started();
    const { id, projectId } = await upload();
    await ready(id, projectId);
    await kit.db.updateTable("asset").set({ keep_original: null }).where("id", "=", id).execute();
    await kit.domains.housekeeping.tick();
    expect(kit.asked.removedKeys).toEqual([]);
    expect((await get(id)).downloadUrl).toMatch(/staticsource\.mp4$/);
    expect((await indexOf(id, projectId))?.original).toBe(undefined);
  });

  it("is withheld from viewers, and not from holders of an owner token, where the project keeps it for keys", async () => {
    const { kit, upload, ready } = await started();
    const { id, playbackId, projectId } = await upload();
    await ready(id, projectId);
    const { playbackGate } = kit.domains;
    const contentFor = async (...tokens: string[]) => {
      const decision = await playbackGate.open({ ...viewerOf(playbackId), tokens });
      return decision.ok ? decision.content : decision;
    };
    expect(await contentFor()).toEqual({ kind: "asset", id, projectId });
    await kit.db.updateTable("project").set({ originals_for_keys_only: true }).where("id", "=", projectId).execute();
    kit.domains.accessChanged(playbackId);
    expect(await contentFor()).toEqual({ kind: "asset", id, projectId, isOriginalWithheld: true });
    const { token } = (await kit.call("POST", "/api/access-control/owner-token", { playbackId })).json();
    expect(await contentFor(token)).toEqual({ kind: "asset", id, projectId });
  });
});
