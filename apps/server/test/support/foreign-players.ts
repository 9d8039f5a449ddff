import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import type { PlayerState, TestBrowser } from "./browser.ts";
import { readNumber } from "./picture-number.ts";

const PAGES = ["player-page.js", "foreign-page.js"].map((name) => fileURLToPath(new URL(`./${name}`, import.meta.url)));
/** 100 MB, too large for a development dependency. */
const PACKAGES = process.env.WEIR_TEST_PLAYERS ?? join(tmpdir(), "weir-players");
const SCRIPTS = {
  hls: () => fileURLToPath(import.meta.resolve("hls.js/dist/hls.min.js")),
  shaka: () => installed("shaka-player", "4.16.50", "dist/shaka-player.compiled.js"),
  shaka5: () => installed("shaka-player-5", "npm:shaka-player@5.2.12", "dist/shaka-player.compiled.js"),
  videojs: () => installed("video.js", "8.24.1", "dist/video.min.js"),
};

export type ScriptPlayer = keyof typeof SCRIPTS;

function installed(name: string, version: string, file: string): string {
  const path = join(PACKAGES, "node_modules", name, file);
  if (existsSync(path)) return path;
  throw new Error(
    `there is no ${name}: npm install --prefix ${PACKAGES} --ignore-scripts ${name}@${version}, or name a folder in WEIR_TEST_PLAYERS`,
  );
}

export interface ForeignState extends PlayerState {
  readonly firstFrameMs: number | null;
  /** Latency of the picture; null if the player does not report it. */
  readonly delayMs: number | null;
  readonly seekable: readonly [number, number] | null;
}

/** Another vendor's player in its own page. */
export class ForeignPlayer {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  static async play(
    browser: TestBrowser,
    kind: ScriptPlayer,
    url: string,
    lowLatency: boolean,
  ): Promise<ForeignPlayer> {
    const page = await browser.context.newPage();
    await page.setContent("<video muted playsinline></video>");
    for (const path of [SCRIPTS[kind](), ...PAGES]) await page.addScriptTag({ path });
    await page.evaluate(`foreign.play(...${JSON.stringify([kind, url, lowLatency])})`);
    return new ForeignPlayer(page);
  }

  state(): Promise<ForeignState> {
    return this.#page.evaluate("foreign.state()");
  }

  /** The longest stall since the last call. */
  takeLongestStallMs(): Promise<number> {
    return this.#page.evaluate("player.takeLongestStallMs()");
  }

  /** How long it stood still at most since the last call, and had nothing to play. */
  takeLongestStarvationMs(): Promise<number> {
    return this.#page.evaluate("foreign.takeLongestStarvationMs()");
  }

  async seek(seconds: number): Promise<void> {
    await this.#page.evaluate(`player.seek(${seconds})`);
  }

  /** The number of the first picture that is shown after a seek, and how long it took until it was there, and until the player could go on. */
  async seekTo(seconds: number): Promise<{ number: number; shownMs: number; soughtMs: number }> {
    const points: [number, number][] = [];
    readNumber((...point) => points.push(point));
    const asked = `player.shadesOfSeek(${seconds}, ${JSON.stringify(points)})`;
    const { shades, ...times } = await this.#page.evaluate<{ shades: number[]; shownMs: number; soughtMs: number }>(
      asked,
    );
    return { number: readNumber(() => shades.shift() ?? 0), ...times };
  }

  /** Brightness of the middle of the picture that is shown, of 255. */
  middleShade(): Promise<number> {
    return this.#page.evaluate("player.middleShade()");
  }

  /** To where the player wants to be behind the live edge. */
  async seekToLive(): Promise<void> {
    await this.#page.evaluate("foreign.seekToLive()");
  }

  close(): Promise<void> {
    return this.#page.close();
  }
}

const PROGRAMS = {
  vlc: { program: "cvlc", packages: "vlc-bin vlc-plugin-base" },
  gstreamer: {
    program: "gst-launch-1.0",
    packages: "gstreamer1.0-tools gstreamer1.0-plugins-{base,good,bad} gstreamer1.0-libav",
  },
  ffmpeg: { program: "ffmpeg", packages: "ffmpeg" },
};

/** Where a program is; throws what to install. */
export function findProgram(name: keyof typeof PROGRAMS): string {
  const { program, packages } = PROGRAMS[name];
  const folder = (process.env.PATH ?? "").split(":").find((folder) => existsSync(join(folder, program)));
  if (folder) return join(folder, program);
  throw new Error(`there is no ${program}: apt-get install --no-install-recommends ${packages}`);
}

// A failing test must leave no player running.
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A player installed as a program. It reports its own position. */
export class NativePlayer {
  readonly #child: ChildProcess;
  readonly #startedAt = performance.now();
  #log = "";
  #position: number | null = null;
  #movedAt: number | null = null;
  firstFrameMs: number | null = null;
  longestStallMs = 0;
  hasExited = false;

  private constructor(
    program: string,
    args: readonly string[],
    positionIn: RegExp,
    { perSecond = 1, asNobody = false } = {},
  ) {
    const env = { PATH: process.env.PATH, HOME: tmpdir(), LC_ALL: "C.UTF-8" };
    // VLC refuses to run as root.
    const user = asNobody && process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    this.#child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env, ...user });
    running.add(this.#child);
    this.#child.once("exit", () => {
      running.delete(this.#child);
      this.hasExited = true;
    });
    for (const output of [this.#child.stdout, this.#child.stderr])
      output?.on("data", (chunk) => {
        const text = String(chunk);
        this.#log = (this.#log + text).slice(-200_000);
        for (const [, seconds] of text.matchAll(positionIn)) this.#reached(Number(seconds) / perSecond);
      });
  }

  static gstreamer(url: string): NativePlayer {
    const video = "progressreport update-freq=1 ! fakesink sync=true";
    const args = `uridecodebin uri=${url} name=d d. ! queue ! videoconvert ! ${video} d. ! queue ! audioconvert ! fakesink sync=true`;
    return NativePlayer.#gstreamer(args);
  }

  /** Reads a list as fast as it comes, and decodes nothing. */
  static gstreamerReader(url: string): NativePlayer {
    const video = "progressreport update-freq=1 ! fakesink sync=false";
    const coded = "caps=video/x-h264;audio/mpeg";
    return NativePlayer.#gstreamer(
      `uridecodebin uri=${url} ${coded} name=d d. ! queue ! ${video} d. ! queue ! fakesink sync=false`,
    );
  }

  static #gstreamer(args: string): NativePlayer {
    return new NativePlayer(findProgram("gstreamer"), args.split(" "), /progressreport0 \([\d:]+\): (\d+)/g);
  }

  static ffmpeg(url: string): NativePlayer {
    return NativePlayer.#ffmpeg(url, []);
  }

  /** Reads a list as fast as it comes, and decodes nothing. */
  static ffmpegReader(url: string): NativePlayer {
    return NativePlayer.#ffmpeg(url, ["-c", "copy", "-copyts"]);
  }

  static #ffmpeg(url: string, how: readonly string[]): NativePlayer {
    const told = ["-v", "warning", "-progress", "pipe:1", "-stats_period", "0.2"];
    const args = ["-hide_banner", "-nostdin", "-i", url, ...how, ...told, "-f", "null", "-"];
    return new NativePlayer(findProgram("ffmpeg"), args, /out_time_us=(\d+)/g, { perSecond: 1e6 });
  }

  static vlc(url: string, fromSecond = 0): NativePlayer {
    const where = fromSecond > 0 ? [`--start-time=${fromSecond}`] : [];
    const quiet = ["-I", "dummy", "--vout", "dummy", "--aout", "dummy", "--play-and-exit", "-vv"];
    return new NativePlayer(findProgram("vlc"), [...quiet, ...where, url], /cached\.i_time \((\d+)\)/g, {
      perSecond: 1e6,
      asNobody: true,
    });
  }

  get position(): number | null {
    return this.#position;
  }

  /** The longest time without progress since the last call. */
  takeLongestStallMs(): number {
    const now = performance.now();
    const longest = Math.max(this.longestStallMs, now - (this.#movedAt ?? now));
    this.longestStallMs = 0;
    this.#movedAt &&= now;
    return longest;
  }

  /** The end of its output. */
  get log(): string {
    return this.#log;
  }

  async stop(): Promise<void> {
    if (this.hasExited) return;
    const exited = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await exited;
  }

  #reached(seconds: number): void {
    if (Number.isNaN(seconds) || (this.#position !== null && seconds === this.#position)) return;
    const now = performance.now();
    this.firstFrameMs ??= now - this.#startedAt;
    if (this.#movedAt !== null) this.longestStallMs = Math.max(this.longestStallMs, now - this.#movedAt);
    this.#movedAt = now;
    this.#position = seconds;
  }
}
