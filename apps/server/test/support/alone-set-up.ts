import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { makeTestFolder } from "../../src/platform/test-folder-rig.ts";
import { startChromium } from "./chromium.ts";
import { WeirProcess } from "./weir-process.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A data folder after a first start. Test servers start with a copy, which saves creating a database. */
    readonly dataTemplate: string;
    /** Endpoint of the run's Chromium. */
    readonly chromium: string;
  }
}

/** Set-up for tests that start their own servers. Returns the tear-down. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const [folder, chromium] = await Promise.all([makeDataTemplate(), startChromium()]);
  project.provide("dataTemplate", folder);
  project.provide("chromium", chromium.wsEndpoint());
  return async () => {
    await chromium.close();
    await rm(folder, { recursive: true });
  };
}

async function makeDataTemplate(): Promise<string> {
  const folder = makeTestFolder("template");
  const weir = await WeirProcess.start({ dataFolder: folder });
  await weir[Symbol.asyncDispose]();
  // Sockets of the stopped server.
  await rm(join(folder, "run"), { recursive: true });
  return folder;
}
