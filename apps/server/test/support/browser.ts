import { fileURLToPath } from "node:url";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { inject, vi } from "vitest";
import { readNumber } from "./picture-number.ts";

const HLS_JS = fileURLToPath(import.meta.resolve("hls.js/dist/hls.min.js"));
const PLAYER_PAGE = fileURLToPath(new URL("./player-page.js", import.meta.url));

/** The state of a video element and of hls.js. */
export interface PlayerState {
  readonly isPlaying: boolean;
  readonly hasEnded: boolean;
  readonly isSeeking: boolean;
  /** Seconds. */
  readonly currentTime: number;
  /** Seconds; null while it is endless. */
  readonly duration: number | null;
  /** Program date time of the picture that is shown, in milliseconds. */
  readonly playingDate: number | null;
  /** Pictures decoded and shown. */
  readonly frames: number;
  readonly droppedFrames: number;
  readonly audioBytes: number;
  readonly width: number;
  readonly stalls: number;
  readonly longestStallMs: number;
  /** All errors of hls.js, including recovered ones, and where the video was. */
  readonly errors: readonly string[];
  readonly fatal: string | null;
}

/** One video in its own page. */
export class TestPlayer {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  state(): Promise<PlayerState> {
    return this.#page.evaluate("player.state()");
  }

  /** Resolves with the state once `holds`. Rejects with the last state after a timeout or a playback failure. */
  async until(what: string, holds: (state: PlayerState) => boolean, withinMs = 30_000): Promise<PlayerState> {
    let state = await this.state();
    const check = async (): Promise<boolean> => {
      state = await this.state();
      return holds(state) || state.fatal !== null;
    };
    await vi.waitUntil(check, { timeout: withinMs, interval: 100 }).catch(() => {});
    if (holds(state)) return state;
    throw new Error(`the player did not come to: ${what}; it is at ${JSON.stringify(state)}`);
  }

  /** Resolves after this many further frames were shown. */
  async untilMoving(frames = 30): Promise<PlayerState> {
    const before = await this.state();
    return this.until(`${frames} more pictures`, (state) => state.isPlaying && state.frames >= before.frames + frames);
  }

  /** Resolves once this many frames have been shown since the beginning, also when the last frame was among them. */
  async untilShown(frames: number): Promise<PlayerState> {
    return this.until(`${frames} frames`, (state) => state.frames >= frames);
  }

  /** Plays a recording to its end at double speed. */
  async untilEnd(): Promise<PlayerState> {
    await this.until("a beginning", ({ isPlaying, hasEnded }) => isPlaying || hasEnded);
    await this.setSpeed(2);
    return this.until("its end", ({ hasEnded }) => hasEnded, 60_000);
  }

  /** 1 is as fast as it was. */
  async setSpeed(rate: number): Promise<void> {
    await this.#page.evaluate(`player.speed(${rate})`);
  }

  async seek(seconds: number): Promise<void> {
    await this.#page.evaluate(`player.seek(${seconds})`);
  }

  /** Switches hls.js to the rendition of this width, and resolves when it is shown. */
  async switchTo(width: number): Promise<PlayerState> {
    await this.#page.evaluate(`player.switchTo(${width})`);
    return this.until(`a picture ${width} wide`, (state) => state.width === width && state.isPlaying);
  }

  /** The same for media that may have ended: plays from the beginning. */
  async replayWith(width: number): Promise<PlayerState> {
    await this.#page.evaluate(`player.replayWith(${width})`);
    return this.until(`a picture ${width} wide`, (state) => state.width === width);
  }

  /** Seeks a file that was opened to be looked at; returns the number of the picture that is then shown. */
  async numberAt(seconds: number): Promise<number> {
    return numberAfterSeek(this.#page, seconds);
  }

  close(): Promise<void> {
    return this.#page.close();
  }
}

/** Has the player of a page seek; the number of the picture that is then shown. */
async function numberAfterSeek(page: Page, seconds: number): Promise<number> {
  const points: [number, number][] = [];
  readNumber((...point) => points.push(point));
  const shades = await page.evaluate<number[]>(`player.shadesAfterSeek(${seconds}, ${JSON.stringify(points)})`);
  return readNumber(() => shades.shift() ?? 0);
}

/** Separate pages in the run's Chromium, which supports H.264 and AAC. */
export class TestBrowser {
  readonly context: BrowserContext;

  private constructor(context: BrowserContext) {
    this.context = context;
  }

  static async open(): Promise<TestBrowser> {
    const browser = await chromium.connect(inject("chromium"));
    const viewport = { width: 1280, height: 900 };
    // The machine's locale may be one that browsers do not support.
    return new TestBrowser(await browser.newContext({ viewport, locale: "en-US" }));
  }

  /** Plays an HLS URL with hls.js in a page of another origin, with `headers` on every request. */
  playHls(
    url: string,
    headers: Readonly<Record<string, string>> = {},
    { lowLatency = true } = {},
  ): Promise<TestPlayer> {
    return this.#play("playHls", url, headers, lowLatency);
  }

  /** Plays a file with the browser's native player. */
  playFile(url: string): Promise<TestPlayer> {
    return this.#play("playFile", url);
  }

  /** Opens a file without playing it, to look at single pictures. */
  openFile(url: string): Promise<TestPlayer> {
    return this.#play("openFile", url);
  }

  async #play(how: "playHls" | "playFile" | "openFile", ...given: readonly unknown[]): Promise<TestPlayer> {
    const page = await this.context.newPage();
    await page.setContent("<video muted playsinline></video>");
    await page.addScriptTag({ path: HLS_JS });
    await page.addScriptTag({ path: PLAYER_PAGE });
    await page.evaluate(`player.${how}(...${JSON.stringify(given)})`);
    return new TestPlayer(page);
  }

  /** Closes its pages, but not the Chromium. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.browser()?.close();
  }
}
