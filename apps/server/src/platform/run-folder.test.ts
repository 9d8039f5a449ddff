import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { takeLock } from "./folder-lock.ts";
import { makeRunFolder } from "./run-folder.ts";
import { makeTestFolder } from "./test-folder-rig.ts";

let parent: string;

beforeEach(() => {
  parent = makeTestFolder("run-folder");
});
afterEach(() => rmSync(parent, { recursive: true }));

test("the folder of a killed run is removed by the next one; not one that is in use, young, or another's", async () => {
  const inAnHour = Date.now() + 3_600_000;
  const killed = join(parent, "weir-trial-killed");
  const stopping = join(parent, "weir-trial-stopping");
  const other = join(parent, "weir-other");
  for (const folder of [killed, join(stopping, "data"), other]) mkdirSync(folder, { recursive: true });
  const server = await takeLock(join(stopping, "data/weir.lock"));

  const young = await makeRunFolder(parent, "weir-trial-", Date.now());
  expect(existsSync(killed)).toBe(true);
  const run = await makeRunFolder(parent, "weir-trial-", inAnHour);
  expect([killed, stopping, other, young.path, run.path].map((path) => existsSync(path))).toEqual([
    ...[false, true, true, true, true],
  ]);
  await server?.release();
  await young.remove();
  await run.remove();
  await (await makeRunFolder(parent, "weir-trial-", inAnHour)).remove();
  expect([stopping, young.path, run.path].map((path) => existsSync(path))).toEqual([false, false, false]);
});
