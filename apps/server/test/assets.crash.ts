import { openAsBlob } from "node:fs";
import { glob, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { everyFrame } from "../src/media/vod/media-track-rig.ts";
import { openArena } from "./support/arena.ts";
import { AvFile } from "./support/av-file.ts";

const SECONDS = 120;

const arena = openArena();

test("a server killed while it encodes the renditions of a video continues where it stopped", async () => {
  await using file = await makeFile({
    format: "mp4",
    video: {
      encoder: "libx264",
      width: 640,
      height: 384,
      times: everyFrame(25, SECONDS),
      options: { preset: "ultrafast" },
    },
  });
  const { weir } = arena;
  const { asset, url } = await weir.client.assets.requestUpload({
    name: "long",
    profiles: [{ name: "small", height: 360, bitrate: 500_000 }],
  });
  await fetch(url, { method: "PUT", body: await openAsBlob(file.path) });
  const notes = async (): Promise<Map<string, number>> => {
    const found = new Map<string, number>();
    for await (const path of glob(`${weir.dataFolder}/objects/v1/*/asset/${asset.id}/out/1/notes/*.json`))
      found.set(path, (await stat(path)).mtimeMs);
    return found;
  };
  await expect.poll(async () => (await notes()).size, { timeout: 120_000 }).toBeGreaterThanOrEqual(2);
  const before = await notes();
  await weir.kill();
  await weir.restart();
  const phase = async () => (await weir.client.assets.get(asset.id)).status.phase;
  await expect.poll(phase, { timeout: 300_000 }).toBe("ready");
  const after = await notes();
  expect(after.size).toBeGreaterThan(before.size);
  for (const [path, madeAt] of before) expect(after.get(path)).toBe(madeAt);
  const { meta } = await weir.client.playback.get(asset.playbackId);
  for (const { url: mp4, width = 0 } of meta.source.filter(({ type }) => type === "html5/video/mp4")) {
    await using made = await AvFile.open(mp4);
    expect(await made.decode()).toEqual({ [width]: 25 * SECONDS });
  }
});
