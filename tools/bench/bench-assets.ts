import { appendFile, copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { planLadder } from "../../apps/server/src/media/ladder/ladder-plan.ts";
import { openAssetPipeline } from "../../apps/server/src/media/vod/open-asset-pipeline.ts";
import { systemClock } from "../../apps/server/src/platform/clock.ts";
import { UNCONFINED } from "../../apps/server/src/platform/confinement/confinement.ts";
import { silentLog } from "../../apps/server/src/platform/log.ts";
import { LocalObjectStore } from "../../apps/server/src/platform/storage/local-object-store.ts";
import { ownCpuSeconds } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { withDataFolder } from "./bench-server.ts";
import { ffmpeg, hasFfmpeg, runFfmpegLadder } from "./ffmpeg-ladder.ts";
import { LADDER_PRESET, LADDER_PROFILES, makeLadderSource } from "./ladder-source.ts";
import { median, type Row } from "./report.ts";

/** The source file repeats the 12-second clip this often. */
const COPIES = 5;
const SOURCE = "v1/bench/asset/clip/source";

/** One minute of 1080p30, processed as an uploaded asset by Weir and to the same rungs by one ffmpeg process, in alternating order. */
export async function measureAssets(rounds: number): Promise<Row[]> {
  if (!(await hasFfmpeg())) {
    process.stdout.write("skipping assets: install ffmpeg (apt-get install ffmpeg)\n");
    return [];
  }
  return withDataFolder(async (folder) => {
    const short = await makeLadderSource(join(folder, "short.h264"));
    const source = { ...short, path: join(folder, "long.h264"), seconds: short.seconds * COPIES };
    await copyFile(short.path, source.path);
    const bytes = await readFile(short.path);
    for (let copy = 1; copy < COPIES; copy++) await appendFile(source.path, bytes);
    const file = join(folder, "clip.mp4");
    const rate = String(source.frameRate);
    const times = ["-bsf:v", `setts=ts=N/${rate}/TB`];
    await ffmpeg("-f", "h264", "-framerate", rate, "-i", source.path, "-c", "copy", ...times, file);
    const rungs = planLadder(LADDER_PROFILES, false, {
      id: 0,
      kind: "video",
      codec: "avc",
      codecString: "",
      ...source,
    });
    const weir: AssetRun[] = [];
    const peer: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const runs = [
        async () => weir.push(await runWeir(folder, file)),
        async () => peer.push((await runFfmpegLadder(source, rungs, LADDER_PRESET, folder)).cpuSeconds),
      ];
      for (const run of round % 2 === 0 ? runs : runs.toReversed()) await run();
    }
    const ratios = weir.map(({ cpuSeconds }, round) => cpuSeconds / (peer[round] ?? Number.NaN));
    const what = "a minute of 1080p30 to 720p, 480p, 360p";
    return [
      { what: `${what}, plays after`, value: median(weir.map(({ playableMs }) => playableMs)), unit: "ms" },
      { what: `${what}, CPU of weir`, value: median(weir.map(({ cpuSeconds }) => cpuSeconds)), unit: "s" },
      { what: `${what}, CPU of ffmpeg`, value: median(peer), unit: "s" },
      ...ratios.map((value, nth) => ({
        what: `${what}, CPU of weir to ffmpeg, round ${nth + 1}`,
        value,
        unit: "times",
      })),
      { what: `${what}, CPU of weir to ffmpeg, median of ${rounds} rounds`, value: median(ratios), unit: "times" },
    ];
  });
}

interface AssetRun {
  readonly cpuSeconds: number;
  readonly playableMs: number;
}

async function runWeir(dataFolder: string, file: string): Promise<AssetRun> {
  const store = new LocalObjectStore(join(dataFolder, "objects"));
  await store.open();
  await store.deletePrefix("v1/bench/");
  await store.putFile(SOURCE, file);
  const needs = { clock: systemClock, log: silentLog, store, dataFolder, confinement: UNCONFINED, liveCores: () => 0 };
  const pipeline = await openAssetPipeline(needs);
  const [cpuBefore, began] = [ownCpuSeconds(), performance.now()];
  let playableMs = Number.NaN;
  const work = {
    assetId: "clip",
    projectId: "bench",
    sourceKey: SOURCE,
    sourceBytes: 0,
    attempt: 1,
    outPrefix: "v1/bench/asset/clip/out/1/",
    profiles: LADDER_PROFILES,
    staticMp4: false,
    targetSegmentSeconds: null,
  };
  await pipeline.process(work, {
    signal: new AbortController().signal,
    progressed: async () => {},
    scanned: async (_spec, media) => {
      if (media) playableMs = performance.now() - began;
    },
  });
  if (Number.isNaN(playableMs)) throw new Error("Weir re-encoded the source rendition, which the ffmpeg run does not");
  return { cpuSeconds: ownCpuSeconds() - cpuBefore, playableMs };
}
