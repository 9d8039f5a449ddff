import { openAsBlob } from "node:fs";
import { expect, test } from "vitest";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { everyFrame } from "../src/media/vod/media-track-rig.ts";
import { openArena } from "./support/arena.ts";
import { type Experience, experienceOf, measured } from "./support/bystander.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

const UPLOADS = 10;
/** A part every third of a second, at most half a second late, plus the duration of a playlist request. */
const LONGEST_STALL_MS = 900;
const SECONDS = 200;
/** Number of live streams. */
const LADDERS = [undefined, SMALL_LADDER, []];

const arena = openArena();

test("ten concurrent uploads delay no part of three live streams", async (context) => {
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
  const began = performance.now();
  const experiences = await experiencesOf(LADDERS, async () => {
    const sources = Array.from({ length: UPLOADS }, (_, n) => ({ name: `upload ${n}`, file: blob }));
    const options = { memory: null, uploadsAtOnce: UPLOADS };
    const assets = await arena.weir.client.createAsset({ sources }, options).assets;
    expect(assets.map(({ status }) => status.phase)).toEqual(Array(UPLOADS).fill("ready"));
  });
  measured(
    context,
    `all ready after ${Math.round((performance.now() - began) / 1000)} s`,
    `longest stalls ${experiences.map(({ longestStallMs }) => Math.round(longestStallMs)).join(", ")} ms`,
  );
  for (const { longestStallMs, apiFailures } of experiences) {
    expect(longestStallMs).toBeLessThan(LONGEST_STALL_MS);
    expect(apiFailures).toBe(0);
  }
});

/** Part delays of concurrent broadcasts with a viewer each. */
async function experiencesOf(
  [profiles, ...others]: readonly (typeof SMALL_LADDER | undefined)[],
  attack: () => Promise<void>,
): Promise<Experience[]> {
  let inner: Experience[] = [];
  const next = async (): Promise<void> => {
    if (others.length > 0) inner = await experiencesOf(others, attack);
    else await attack();
  };
  const outer = await experienceOf(arena.weir, next, { seconds: SECONDS, ...(profiles && { stream: { profiles } }) });
  return [outer, ...inner];
}
