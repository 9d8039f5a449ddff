import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { PlaybackInfo } from "@weir/contract";
import type { Page } from "playwright-core";
import { build } from "vite";
import type { TestBrowser } from "./browser.ts";

const ENTRIES = {
  player: fileURLToPath(new URL("./public-player/page.js", import.meta.url)),
  broadcast: fileURLToPath(new URL("./public-player/broadcast.js", import.meta.url)),
};

/** The player's properties. */
export interface PublicPlayerProps {
  /** The response of `GET /api/playback/{id}`. */
  readonly info: PlaybackInfo;
  readonly jwt?: string;
  readonly accessKey?: string;
  /** The application's metrics URL, and its details about the viewer. */
  readonly reportsTo?: { readonly url: string; readonly from: object };
}

/** The broadcaster's properties. */
export interface PublicBroadcastProps {
  readonly streamKey: string;
  /** Prefix to which the stream key is appended. */
  readonly baseUrl: string;
}

/** Scripts of this worker's pages, which differ only in what they are given. */
const scripts = new Map<keyof typeof ENTRIES, Promise<string>>();

/** Pages with the unmodified player or broadcaster of `@livepeer/react`, on their own origin. */
export class PublicPlayerSite {
  readonly #server: Server;
  readonly #browser: TestBrowser;
  #given: PublicPlayerProps | PublicBroadcastProps | null = null;

  private constructor(browser: TestBrowser, script: string) {
    this.#browser = browser;
    this.#server = createServer((req, res) => {
      const isScript = req.url === "/page.js";
      res.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      res.end(isScript ? script : this.#html());
    });
  }

  static async start(browser: TestBrowser, what: keyof typeof ENTRIES = "player"): Promise<PublicPlayerSite> {
    const script = scripts.get(what) ?? bundle(ENTRIES[what]);
    scripts.set(what, script);
    const site = new PublicPlayerSite(browser, await script);
    await new Promise<void>((resolve) => site.#server.listen(0, "127.0.0.1", resolve));
    return site;
  }

  /** A page whose text shows the player's state. */
  async open(
    given: PublicPlayerProps | PublicBroadcastProps,
    prepare: (page: Page) => Promise<unknown> = async () => {},
  ): Promise<Page> {
    this.#given = given;
    const page = await this.#browser.context.newPage();
    await prepare(page);
    await page.goto(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #html(): string {
    const given = JSON.stringify(this.#given).replaceAll("<", "\\u003c");
    return `<!doctype html><div id="root"></div><script id="given" type="application/json">${given}</script><script type="module" src="/page.js"></script>`;
  }
}

async function bundle(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    build: { write: false, minify: false, rolldownOptions: { input: entry, output: { codeSplitting: false } } },
  });
  const outputs = [built].flat().flatMap((result) => ("output" in result ? result.output : []));
  const [chunk] = outputs.filter((output) => output.type === "chunk");
  if (!chunk) throw new Error("the player's page was not bundled");
  return chunk.code;
}
