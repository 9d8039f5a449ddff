import { afterAll, beforeAll } from "vitest";
import { TestBrowser } from "./browser.ts";
import { sharedServer } from "./shared-server.ts";
import { WeirProcess, type WeirProcessOptions } from "./weir-process.ts";
import type { WeirServer } from "./weir-server.ts";

/** A server for the tests of a file, and a browser context of the run's Chromium. */
export interface Arena<Server extends WeirServer> {
  readonly weir: Server;
  readonly browser: TestBrowser;
}

/** The run's shared server, which other files use at the same time. */
export function shareArena(): Arena<WeirServer> {
  return arenaOf(async () => sharedServer());
}

/** The file's own server, to be stopped, killed, measured or configured. */
export function openArena(options: WeirProcessOptions = {}): Arena<WeirProcess> {
  return arenaOf(async (closing) => closing.use(await WeirProcess.start(options)));
}

function arenaOf<Server extends WeirServer>(open: (closing: AsyncDisposableStack) => Promise<Server>): Arena<Server> {
  const closing = new AsyncDisposableStack();
  let weir: Server | null = null;
  let browser: TestBrowser | null = null;
  beforeAll(async () => {
    weir = await open(closing);
    browser = closing.use(await TestBrowser.open());
  });
  afterAll(() => closing.disposeAsync());
  return {
    get weir() {
      return weir ?? notYet("server");
    },
    get browser() {
      return browser ?? notYet("browser");
    },
  };
}

function notYet(what: string): never {
  throw new Error(`there is no ${what} before the first test`);
}
