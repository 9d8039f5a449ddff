import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { unpackChromium } from "./chromium.ts";
import { WeirProcess } from "./weir-process.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A data folder as the first start leaves it. Servers of tests begin with a copy, which spares each of them the making of a database. */
    readonly dataTemplate: string;
  }
}

/** What all end-to-end tests of a run begin with. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  await unpackChromium();
  const folder = await mkdtemp(join(tmpdir(), "weir-template-"));
  const weir = await WeirProcess.start({ dataFolder: folder });
  await weir.stop();
  // Sockets of the server that is gone.
  await rm(join(folder, "run"), { recursive: true });
  project.provide("dataTemplate", folder);
  return () => rm(folder, { recursive: true });
}
