import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { makeTestFolder } from "../../src/platform/test-folder-rig.ts";
import setUpAlone from "./alone-set-up.ts";
import { SHARED_SETTINGS } from "./shared-server.ts";
import { WeirProcess } from "./weir-process.ts";
import type { WeirAddress } from "./weir-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly sharedServer: WeirAddress;
  }
}

const PACKAGES = fileURLToPath(new URL("../../../../tools/packages.ts", import.meta.url));

/** Set-up for tests that share a server. Returns the tear-down. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  // The server hands out the packages that it finds at its start.
  const [tearDown] = await Promise.all([setUpAlone(project), promisify(execFile)(process.execPath, [PACKAGES])]);
  const dataFolder = makeTestFolder("shared");
  const weir = await WeirProcess.start({ dataFolder, env: SHARED_SETTINGS });
  const { httpPort, rtmpPort } = weir;
  project.provide("sharedServer", { dataFolder, httpPort, rtmpPort });
  return async () => {
    // Its data is no longer needed. Its database stops by itself shortly after.
    await weir.kill();
    await rm(dataFolder, { recursive: true, force: true, maxRetries: 50 });
    await rm(weir.logPath);
    await tearDown();
  };
}
