import { openAsBlob } from "node:fs";
import { expect, test } from "vitest";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { everyFrame } from "../src/media/vod/media-track-rig.ts";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { experienceOf, measured } from "./support/bystander.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

const UPLOADS = 10;
/** A part every third of a second, and half a second late at most; a look at the playlist takes a moment itself. */
const LONGEST_STALL_MS = 1_000;

const arena = openArena();

test("ten uploads at once delay no part of three live streams", async (context) => {
  await using file = await makeFile({
    format: "mp4",
    video: {
      encoder: "libx264",
      width: 1280,
      height: 720,
      times: everyFrame(25, 8),
      options: { preset: "ultrafast" },
    },
    audio: { encoder: "aac", seconds: 8 },
  });
  const blob = await openAsBlob(file.path);
  await using _second = await startBroadcast(arena.weir, { seconds: 200, stream: { profiles: [] } });
  await using _third = await startBroadcast(arena.weir, { seconds: 200, stream: { profiles: SMALL_LADDER } });
  const began = performance.now();
  const experience = await experienceOf(
    arena.weir,
    async () => {
      const sources = Array.from({ length: UPLOADS }, (_, n) => ({ name: `upload ${n}`, file: blob }));
      const options = { memory: null, uploadsAtOnce: UPLOADS };
      const assets = await arena.weir.client.createAsset({ sources }, options).assets;
      expect(assets.map(({ status }) => status.phase)).toEqual(Array(UPLOADS).fill("ready"));
    },
    { seconds: 200 },
  );
  measured(
    context,
    `all ready after ${Math.round((performance.now() - began) / 1000)} s`,
    `longest stall ${Math.round(experience.longestStallMs)} ms`,
  );
  console.log(experience, (performance.now() - began) / 1000);
  expect(experience.longestStallMs).toBeLessThan(LONGEST_STALL_MS);
  expect(experience.apiFailures).toBe(0);
});
