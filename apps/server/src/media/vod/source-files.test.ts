import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";
import { SourceFiles } from "./source-files.ts";

const { signal } = new AbortController();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-sources-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A store without local paths. */
function far(read: () => Readable, freeBytes = 1e12): SourceFiles {
  const store = { read: async () => read() } as unknown as ObjectStore;
  return new SourceFiles(store, folder, () => freeBytes);
}

test("a file of a remote store is copied for as long as it is needed", async () => {
  const sources = far(() => Readable.from([Buffer.from("the "), Buffer.from("file")]));
  await sources.open();
  {
    await using source = await sources.take("v1/key", "asset-1", 8, signal);
    expect(await readFile(source.path, "utf8")).toBe("the file");
  }
  expect(await readdir(folder)).toEqual([]);
});

test("an interrupted copy leaves no file, and files of an earlier run are removed", async () => {
  const broken = async function* () {
    yield Buffer.from("the ");
    throw new Error("the store is away");
  };
  const sources = far(() => Readable.from(broken()));
  await sources.open();
  await expect(sources.take("v1/key", "asset-1", 8, signal)).rejects.toThrow("the store is away");
  expect(await readdir(folder)).toEqual([]);
});

test("a copy that is shorter than the file is the store's fault, and no source", async () => {
  const sources = far(() => Readable.from([Buffer.from("the fi")]));
  await sources.open();
  await expect(sources.take("v1/key", "asset-1", 8, signal)).rejects.toThrow(StoreFailed);
  expect(await readdir(folder)).toEqual([]);
});

test("no copy is started without enough disk space", async () => {
  const sources = far(() => Readable.from(["never read"]), 600 * 1024 * 1024);
  await expect(sources.take("v1/key", "asset-1", 1e9, signal)).rejects.toThrow("not enough disk space");
});
