import { stat } from "node:fs/promises";
import { planLadder, type Rung } from "../../apps/server/src/media/ladder/ladder-plan.ts";
import { withDataFolder } from "./bench-server.ts";
import { hasFfmpeg, psnrOf, runFfmpegLadder } from "./ffmpeg-ladder.ts";
import { LADDER_PRESET, LADDER_PROFILES, type LadderSource, makeLadderSource } from "./ladder-source.ts";
import { median, type Row } from "./report.ts";
import { type LadderRun, runWeirLadder } from "./weir-ladder.ts";

const ENCODERS = [
  { by: "weir", run: runWeirLadder },
  { by: "ffmpeg", run: runFfmpegLadder },
];

/**
 * Transcodes a 1080p30 source to three rungs with Weir's transcoding child and with one ffmpeg process, alternately. Reports CPU per round, then
 * quality and bitrate per rung.
 */
export async function measureLadderQuality(rounds: number): Promise<Row[]> {
  if (!(await hasFfmpeg())) {
    process.stdout.write("skipping ladder-quality: install ffmpeg (apt-get install ffmpeg)\n");
    return [];
  }
  return withDataFolder(async (folder) => {
    const source = await makeLadderSource(`${folder}/source.h264`);
    const rungs = planLadder(LADDER_PROFILES, false, {
      id: 0,
      kind: "video",
      codec: "avc",
      codecString: "",
      ...source,
    });
    const runs = new Map<string, LadderRun[]>(ENCODERS.map(({ by }) => [by, []]));
    for (let round = 0; round < rounds; round++) {
      for (const { by, run } of round % 2 === 0 ? ENCODERS : ENCODERS.toReversed())
        runs.get(by)?.push(await run(source, rungs, LADDER_PRESET, folder));
    }
    const costs = ENCODERS.map(({ by }) => runs.get(by)?.map(({ cpuSeconds }) => cpuSeconds / source.seconds) ?? []);
    const quality: Row[] = [];
    for (const { by } of ENCODERS) quality.push(...(await qualityOf(by, runs.get(by)?.at(-1), rungs, source)));
    return [...costRows(costs), ...quality];
  });
}

function costRows([weir = [], ffmpeg = []]: readonly number[][]): Row[] {
  const ratios = weir.map((cost, round) => cost / (ffmpeg[round] ?? Number.NaN));
  const what = "1080p30 to 720p, 480p, 360p, CPU";
  return [
    { what: `${what} of weir's transcoder, median`, value: median(weir), unit: "cores" },
    { what: `${what} of ffmpeg, median`, value: median(ffmpeg), unit: "cores" },
    ...ratios.map((value, nth) => ({ what: `${what}: weir to ffmpeg, round ${nth + 1}`, value, unit: "times" })),
    { what: `${what}: weir to ffmpeg, median of ${ratios.length} rounds`, value: median(ratios), unit: "times" },
  ];
}

async function qualityOf(
  by: string,
  run: LadderRun | undefined,
  rungs: readonly Rung[],
  source: LadderSource,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [nth, rung] of rungs.entries()) {
    const path = run?.paths[nth] ?? "";
    const kilobits = ((await stat(path)).size * 8) / source.seconds / 1000;
    const { luma, average } = await psnrOf(path, rung, source);
    rows.push(
      { what: `${rung.name} of ${by}, PSNR of luma`, value: luma, unit: "dB" },
      { what: `${rung.name} of ${by}, PSNR with chroma`, value: average, unit: "dB" },
      { what: `${rung.name} of ${by}, bitrate`, value: kilobits, unit: "kbit/s" },
    );
  }
  return rows;
}
