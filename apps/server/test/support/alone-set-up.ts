import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { makeTestFolder } from "../../src/platform/test-folder.ts";
import { startChromium } from "./chromium.ts";
import { WeirProcess } from "./weir-process.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A data folder as the first start leaves it. Servers of tests begin with a copy, which spares each of them the making of a database. */
    readonly dataTemplate: string;
    /** Where the run's Chromium listens. */
    readonly chromium: string;
  }
}

/** The set-up of tests that start their own servers. Returns its removal. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = makeTestFolder("template");
  const weir = await WeirProcess.start({ dataFolder: folder });
  await weir[Symbol.asyncDispose]();
  // Sockets of the server that is gone.
  await rm(join(folder, "run"), { recursive: true });
  project.provide("dataTemplate", folder);
  const chromium = await startChromium();
  project.provide("chromium", chromium.wsEndpoint());
  return async () => {
    await chromium.close();
    await rm(folder, { recursive: true });
  };
}
