import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Rung } from "../../apps/server/src/media/ladder/ladder-plan.ts";
import { encoderSettings } from "../../apps/server/src/media/transcode/encoder-settings.ts";
import type { LadderSource } from "./ladder-source.ts";
import type { LadderRun } from "./weir-ladder.ts";

const LONGEST_RUN_MS = 5 * 60_000;
const execute = promisify(execFile);

/** Whether ffmpeg is installed. */
export async function hasFfmpeg(): Promise<boolean> {
  return ffmpeg("-version").then(
    () => true,
    () => false,
  );
}

/**
 * Transcodes the source with one ffmpeg process, using Weir's x264 settings and bitrates. As in Weir, each rung is scaled from the next larger one.
 */
export async function runFfmpegLadder(
  source: LadderSource,
  rungs: readonly Rung[],
  preset: string,
  folder: string,
): Promise<LadderRun> {
  const paths = rungs.map(({ name }) => `${folder}/ffmpeg-${name}.h264`);
  const outputs = rungs.flatMap((rung, nth) => [
    ...["-map", `[out${nth}]`, "-c:v", "libx264", "-threads", "1"],
    ...Object.entries(encoderSettings("libx264", preset, rung).options).flatMap(([name, value]) => [`-${name}`, value]),
    ...["-b:v", rung.bitrateBps, "-maxrate", rung.bitrateBps, "-bufsize", rung.bitrateBps].map(String),
    ...["-force_key_frames", `expr:gte(t,n_forced*${source.gopSeconds})`, "-f", "h264", paths[nth] ?? ""],
  ]);
  const log = await ffmpeg("-benchmark", ...read(source.path, source), "-filter_complex", cascade(rungs), ...outputs);
  const [, user, system] = /bench: utime=([\d.]+)s stime=([\d.]+)s/.exec(log) ?? [];
  return { cpuSeconds: Number(user) + Number(system), paths };
}

/** In dB. */
export interface Psnr {
  readonly luma: number;
  /** Over luma and chroma, which detects shifted colours. */
  readonly average: number;
}

/** PSNR of a rung against the source scaled by zimg (bicubic), which keeps left-sited chroma samples in position. */
export async function psnrOf(path: string, { width, height }: Rung, source: LadderSource): Promise<Psnr> {
  const compare = `[1:v]zscale=${width}:${height}:filter=bicubic:chromalin=left:chromal=left[reference];[0:v][reference]psnr`;
  const inputs = [...read(path, source), ...read(source.path, source)];
  const log = await ffmpeg(...inputs, "-filter_complex", compare, "-f", "null", "-");
  const [, luma, average] = /PSNR y:([\d.]+) .*average:([\d.]+)/.exec(log) ?? [];
  return { luma: Number(luma), average: Number(average) };
}

function cascade(rungs: readonly Rung[]): string {
  return rungs
    .map(({ width, height }, nth) => {
      const from = nth === 0 ? "0:v" : `next${nth}`;
      const to = nth === rungs.length - 1 ? `[out${nth}]` : `,split[out${nth}][next${nth + 1}]`;
      return `[${from}]scale=${width}:${height}:flags=bicubic${to}`;
    })
    .join(";");
}

function read(path: string, { frameRate }: LadderSource): string[] {
  return ["-f", "h264", "-framerate", String(frameRate), "-i", path];
}

/** Returns the log. Throws if ffmpeg fails. */
export async function ffmpeg(...options: string[]): Promise<string> {
  const { stderr } = await execute("ffmpeg", ["-hide_banner", "-nostdin", "-nostats", "-y", ...options], {
    timeout: LONGEST_RUN_MS,
  });
  return stderr;
}
