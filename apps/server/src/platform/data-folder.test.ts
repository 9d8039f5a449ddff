import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDataFolder } from "./data-folder.ts";

let parent: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "weir-folder-"));
});

afterEach(() => rmSync(parent, { recursive: true, force: true }));

test("a folder that is not there is made, for its owner alone", () => {
  const folder = openDataFolder(join(parent, "a", "b"));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("a folder that was there before is closed to readers, unless it holds other things", () => {
  for (const [name, entry, before, after] of [
    ["empty", null, 0o755, 0o700],
    ["used", "spool", 0o755, 0o700],
    ["shared", "photos", 0o755, 0o755],
    ["walked-through", "pg", 0o711, 0o711],
  ] as const) {
    const folder = join(parent, name);
    mkdirSync(entry ? join(folder, entry) : folder, { recursive: true });
    chmodSync(folder, before);
    openDataFolder(folder);
    expect(statSync(folder).mode & 0o777).toBe(after);
  }
});

test.each(["file", "file/below"])("a data folder that is a %s is refused in words", (path) => {
  writeFileSync(join(parent, "file"), "");
  expect(() => openDataFolder(join(parent, path))).toThrow(
    `the data folder ${join(parent, path)} is a file, or lies below one: set WEIR_DATA_DIR to a folder`,
  );
});

test("a disk without room is refused with both figures", () => {
  expect(() => openDataFolder(parent, () => 12_600_000)).toThrow(
    `no space for the data folder ${parent}: 12 MB free, 256 MB needed`,
  );
});

test("a folder that was used before needs less room: a disk that recordings filled keeps no server from starting", () => {
  mkdirSync(join(parent, "spool"));
  expect(openDataFolder(parent, () => 40_000_000)).toBe(parent);
  expect(() => openDataFolder(parent, () => 12_600_000)).toThrow("12 MB free, 32 MB needed");
});
