import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTestFolder } from "../platform/test-folder-rig.ts";
import { nodeNameOf, nodePlaceOf } from "./node-name.ts";

test("a node keeps its name, and gets one where a power cut has left an empty file", () => {
  const folder = makeTestFolder("node-name");
  const name = nodeNameOf(folder);
  expect([nodeNameOf(folder), readdirSync(folder)]).toEqual([name, ["node-name"]]);
  writeFileSync(join(folder, "node-name"), "");
  const other = nodeNameOf(folder);
  expect(other).toMatch(/^[0-9a-f-]{36}$/);
  expect(readFileSync(join(folder, "node-name"), "utf8")).toBe(`${other}\n`);
});

test.runIf(process.platform === "linux")("a data folder keeps its place, and a copy of it has another", () => {
  const [folder, copy] = [makeTestFolder("node-place"), makeTestFolder("node-place")];
  expect(nodePlaceOf(folder)).toMatch(/^[0-9a-f]{64}$/);
  expect([nodePlaceOf(folder), nodePlaceOf(copy)]).toEqual([
    nodePlaceOf(folder),
    expect.not.stringMatching(`^${nodePlaceOf(folder)}$`),
  ]);
});
