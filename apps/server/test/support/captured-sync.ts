import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "./foreign-players.ts";

const WHITE_ABOVE = 128;
/** A flash and a beep further apart do not belong together. */
const MAX_DISTANCE_SECONDS = 0.2;

/** How far apart the flashes and beeps of a stream were, as ffmpeg read them. */
export interface CapturedSync {
  /** Seconds since the start of the capture. */
  readonly at: number;
  readonly distanceMs: number;
}

async function ffmpeg(args: readonly string[], signal?: AbortSignal): Promise<string> {
  const child = spawn(findProgram("ffmpeg"), ["-hide_banner", "-nostdin", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  signal?.addEventListener("abort", () => child.kill("SIGINT"), { once: true });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0 && !signal?.aborted) throw new Error(`ffmpeg exited with ${code}: ${log.slice(-2000)}`);
  return log;
}

const numbersIn = (log: string, pattern: RegExp): number[] =>
  [...log.matchAll(pattern)].map((found) => Number(found[1]));

/** Copies what an HLS address gives, until `stop` is called, which looks for the flashes and beeps of a publisher with `flashes`. */
export async function captureSync(url: string): Promise<{ stop(): Promise<CapturedSync[]> }> {
  const folder = await mkdtemp(join(tmpdir(), "weir-sync-"));
  const path = join(folder, "capture.mkv");
  const ending = new AbortController();
  const captured = ffmpeg(["-i", url, "-map", "0:v:0", "-map", "0:a:0", "-c", "copy", path], ending.signal);
  captured.catch(() => {});
  return {
    stop: async () => {
      ending.abort();
      try {
        await captured;
        return await syncOf(path);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  };
}

async function syncOf(path: string): Promise<CapturedSync[]> {
  const pictures = await ffmpeg([
    "-i",
    path,
    "-map",
    "0:v",
    "-vf",
    "scale=16:16,format=gray,showinfo",
    "-f",
    "null",
    "-",
  ]);
  let wasWhite = true;
  const flashes = [...pictures.matchAll(/pts_time:([\d.]+).*?mean:\[(\d+)/g)].flatMap(([, time, mean]) => {
    const isWhite = Number(mean) > WHITE_ABOVE;
    const isFlash = isWhite && !wasWhite;
    wasWhite = isWhite;
    return isFlash ? [Number(time)] : [];
  });
  const sound = await ffmpeg(["-i", path, "-map", "0:a", "-af", "silencedetect=noise=-20dB:d=0.2", "-f", "null", "-"]);
  const beeps = numbersIn(sound, /silence_end: ([\d.]+)/g);
  // One flash for each beep: the keyframe of a slate may be a flash as well, and is silent.
  return beeps.flatMap((beep) => {
    const [at = Number.NaN] = flashes.toSorted((a, b) => Math.abs(a - beep) - Math.abs(b - beep));
    return Math.abs(beep - at) < MAX_DISTANCE_SECONDS ? [{ at, distanceMs: (beep - at) * 1000 }] : [];
  });
}
