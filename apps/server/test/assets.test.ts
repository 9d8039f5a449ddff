import { openAsBlob } from "node:fs";
import type { Asset } from "@weir/client";
import { expect, test } from "vitest";
import { type FileOptions, makeFile } from "../src/media/vod/media-file-rig.ts";
import { shareArena } from "./support/arena.ts";
import { AvFile } from "./support/av-file.ts";

const arena = shareArena();

const X264 = { encoder: "libx264", width: 640, height: 384, options: { preset: "ultrafast" } } as const;

/** Uploads files as one asset each, and waits until all are ready. */
async function upload(files: Readonly<Record<string, FileOptions>>, more: object = {}): Promise<Map<string, Asset>> {
  await using made = new AsyncDisposableStack();
  const sources = await Promise.all(
    Object.entries(files).map(async ([name, options]) => {
      const { path } = made.use(await makeFile(options));
      return { name, file: await openAsBlob(path), ...more };
    }),
  );
  const assets = await arena.weir.client.createAsset({ sources }, { memory: null }).assets;
  return new Map(assets.map((asset) => [asset.name, asset]));
}

/** Plays to the end in any rendition; `width` is the source's, 0 without video. */
async function play(url: string, width: number): Promise<void> {
  const playlist = await fetch(url).then((response) => response.text());
  const offered = width === 0 ? [0] : Array.from(playlist.matchAll(/RESOLUTION=(\d+)x/g), ([, text]) => Number(text));
  expect(offered).toContain(width);
  const player = await arena.browser.playHls(url);
  const state = await player.until("at its end", ({ hasEnded }) => hasEnded, 30_000);
  expect(state.fatal).toBe(null);
  expect(offered).toContain(state.width);
  await player.close();
}

test("files of common kinds play in a browser, as HLS and as MP4", async () => {
  const files: Record<string, FileOptions> = {
    mp4: { format: "mp4", video: { ...X264, options: { preset: "ultrafast", bf: "2" } }, audio: { encoder: "aac" } },
    webm: {
      format: "webm",
      video: { encoder: "libvpx-vp9", width: 640, height: 384, options: { deadline: "realtime", "cpu-used": "8" } },
      audio: { encoder: "libopus", samples: "flt" },
    },
    turned: { format: "mov", video: { ...X264, turn: 90 } },
    sound: { format: "mp3", audio: { encoder: "libmp3lame" } },
  };
  const assets = await upload(files, { profiles: [{ name: "small", height: 192, bitrate: 200_000 }] });
  const widths = { mp4: 640, webm: 640, turned: 384, sound: 0 };
  const plays = Object.entries(widths).map(async ([name, width]) => {
    const { playbackUrl = "", videoSpec, status } = assets.get(name) ?? expect.fail(`no ${name}`);
    expect(status).toMatchObject({ phase: "ready" });
    expect(videoSpec?.duration).toBeCloseTo(2, 0);
    await play(playbackUrl, width);
    const mp4 = await arena.browser.playFile(playbackUrl.replace("index.m3u8", "staticsource.mp4"));
    await mp4.until("at its end", ({ hasEnded }) => hasEnded, 30_000);
    await mp4.close();
  });
  await Promise.all(plays);
  const { playbackId = "" } = assets.get("mp4") ?? {};
  const { meta } = await arena.weir.client.playback.get(playbackId);
  const mp4s = meta.source.filter(({ type }) => type === "html5/video/mp4");
  expect(mp4s.map(({ url }) => url.split("/").at(-1)).toSorted()).toEqual(["staticsmall.mp4", "staticsource.mp4"]);
  for (const { url, size, width = 0 } of mp4s) {
    const bytes = await fetch(url).then((response) => response.arrayBuffer());
    expect(bytes.byteLength).toBe(size);
    await using file = await AvFile.open(url);
    expect(await file.decode()).toEqual({ [width]: 50 });
  }
});

test("an asset with a jwt policy, including its MP4, requires a token", async () => {
  const assets = await upload({ closed: { format: "mp4", video: X264 } }, { playbackPolicy: { type: "jwt" } });
  const { playbackUrl = "", downloadUrl = "", playbackId = "" } = assets.get("closed") ?? {};
  expect(await fetch(playbackUrl).then((response) => response.text())).toContain("#EXT-X-ERROR");
  expect((await fetch(downloadUrl)).status).toBe(401);
  const { token } = await arena.weir.client.access.ownerToken(playbackId);
  expect((await fetch(`${downloadUrl}?jwt=${token}`)).status).toBe(200);
  await play(`${playbackUrl}?jwt=${token}`, 640);
});

test("a file that is not a video fails, and its owner reads what to do", async () => {
  const file = new Blob(["#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"]);
  const { client } = arena.weir;
  const failed = client.createAsset({ sources: [{ name: "clip.mp4", file }] }, { memory: null }).assets;
  await expect(failed).rejects.toThrow(/This file contains no readable video or audio.*Upload MP4/);
});
