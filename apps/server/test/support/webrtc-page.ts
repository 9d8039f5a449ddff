import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { vi } from "vitest";
import type { TestBrowser } from "./browser.ts";

const SCRIPT = fileURLToPath(new URL("./webrtc-page.js", import.meta.url));

export interface WebrtcAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly link: string | null;
  readonly body: string;
}

export interface WebrtcFigures {
  readonly connection: string;
  readonly connectedMs: number | null;
  readonly firstFrameMs: number | null;
  readonly longestFreezeMs: number;
  /** Of the present connection. */
  readonly frames: number;
  /** Made so far. */
  readonly connections: number;
  readonly width: number;
  readonly lost: number;
  readonly nacks: number;
  readonly audioSamples: number;
  /** Of the loudest sample that was heard when somebody looked. */
  readonly loudness: number;
  readonly jitterMs: number;
  readonly sentBytes: number;
  readonly sentWidth: number;
  readonly plis: number;
  readonly targetBps: number;
  readonly availableBps: number;
  readonly at: number;
}

/** A page of a browser with one WebRTC connection, made by a script that knows the standards alone. */
export class WebrtcPage implements AsyncDisposable {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** On the origin of `url`: cameras are for secure pages, and loopback counts as one. */
  static async open(browser: TestBrowser, url: string): Promise<WebrtcPage> {
    const page = await browser.context.newPage();
    const blank = new URL("/webrtc-test-page", url).href;
    await page.route(blank, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html><body>" }));
    await page.goto(blank);
    await page.addScriptTag({ path: SCRIPT });
    return new WebrtcPage(page);
  }

  watch(url: string, headers: Record<string, string> = {}): Promise<WebrtcAnswer> {
    return this.#page.evaluate(`webrtc.watch(...${JSON.stringify([url, headers])})`);
  }

  /** Watches anew whenever the picture stands. */
  watchOn(url: string): Promise<WebrtcAnswer> {
    return this.#page.evaluate(`webrtc.watchOn(${JSON.stringify(url)})`);
  }

  /** The camera, which is a test picture; with `clock` a picture that has the time of day in it. */
  publish(url: string, options: { readonly clock?: boolean } = {}): Promise<WebrtcAnswer> {
    return this.#page.evaluate(`webrtc.publish(...${JSON.stringify([url, options])})`);
  }

  /** How old each picture was when it was shown, in ms, by the clock in it. */
  latencies(): Promise<readonly number[]> {
    return this.#page.evaluate("webrtc.latencies()");
  }

  /** Media goes through this UDP port from the next connection on. */
  relayBy(port: number): Promise<void> {
    return this.#page.evaluate(`webrtc.relayBy(${port})`);
  }

  /** Ends it as a broadcaster does: deletes what was answered. */
  stop(): Promise<{ readonly status: number }> {
    return this.#page.evaluate("webrtc.stop(location.href)");
  }

  figures(): Promise<WebrtcFigures> {
    return this.#page.evaluate("webrtc.figures()");
  }

  /** Resolves with the figures as soon as `holds`; fails, showing the last, when it does not in time. */
  async until(what: string, holds: (figures: WebrtcFigures) => boolean, withinMs = 20_000): Promise<WebrtcFigures> {
    let figures = await this.figures();
    const check = async (): Promise<boolean> => {
      figures = await this.figures();
      return holds(figures);
    };
    await vi.waitUntil(check, { timeout: withinMs, interval: 100 }).catch(() => {});
    if (holds(figures)) return figures;
    throw new Error(`the WebRTC page did not come to: ${what}; it is at ${JSON.stringify(figures)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#page.close();
  }
}
