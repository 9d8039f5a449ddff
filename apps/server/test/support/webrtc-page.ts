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
  /** Of the current connection. */
  readonly frames: number;
  /** Number of connections so far. */
  readonly connections: number;
  readonly width: number;
  readonly lost: number;
  readonly nacks: number;
  readonly audioSamples: number;
  /** Peak level of the audio samples checked. */
  readonly loudness: number;
  readonly jitterMs: number;
  readonly sentBytes: number;
  readonly sentWidth: number;
  readonly plis: number;
  readonly targetBps: number;
  readonly availableBps: number;
  readonly at: number;
}

/** A browser page with one WebRTC connection, made by a script that relies on the standards only. */
export class WebrtcPage implements AsyncDisposable {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** Opens the page on the origin of `url`: cameras require a secure context, which loopback is. */
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

  /** Reconnects whenever the picture freezes. */
  watchOn(url: string): Promise<WebrtcAnswer> {
    return this.#page.evaluate(`webrtc.watchOn(${JSON.stringify(url)})`);
  }

  /** Publishes the camera's test picture, or with `clock` a picture that encodes the time of day. */
  publish(url: string, options: { readonly clock?: boolean } = {}): Promise<WebrtcAnswer> {
    return this.#page.evaluate(`webrtc.publish(...${JSON.stringify([url, options])})`);
  }

  /** Age of each picture when it was shown, in ms, by its encoded time. */
  latencies(): Promise<readonly number[]> {
    return this.#page.evaluate("webrtc.latencies()");
  }

  /** Routes media through this UDP port from the next connection on. */
  relayBy(port: number): Promise<void> {
    return this.#page.evaluate(`webrtc.relayBy(${port})`);
  }

  /** Stops like a broadcaster: deletes the WHIP resource. */
  stop(): Promise<{ readonly status: number }> {
    return this.#page.evaluate("webrtc.stop(location.href)");
  }

  figures(): Promise<WebrtcFigures> {
    return this.#page.evaluate("webrtc.figures()");
  }

  /** Resolves with the figures once `holds`. Rejects with the last ones after a timeout. */
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
