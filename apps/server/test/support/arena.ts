import { afterAll, beforeAll } from "vitest";
import { TestBrowser } from "./browser.ts";
import { WeirProcess, type WeirProcessOptions } from "./weir-process.ts";

/** One server, and one browser where asked for, for all tests of a file. What it holds is there from the first test on. */
export interface Arena {
  readonly weir: WeirProcess;
  readonly browser: TestBrowser;
}

export function openArena({
  withBrowser = true,
  ...options
}: WeirProcessOptions & { withBrowser?: boolean } = {}): Arena {
  let weir: WeirProcess | null = null;
  let browser: TestBrowser | null = null;
  beforeAll(async () => {
    weir = await WeirProcess.start(options);
    if (withBrowser) browser = await TestBrowser.open();
  });
  afterAll(async () => {
    await browser?.close();
    await weir?.[Symbol.asyncDispose]();
  });
  return {
    get weir() {
      if (!weir) throw new Error("there is no server before the first test");
      return weir;
    },
    get browser() {
      if (!browser) throw new Error("there is no browser: ask for one");
      return browser;
    },
  };
}
