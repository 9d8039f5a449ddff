import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LocalObjectStore } from "./local-object-store.ts";
import { ObjectNotFound } from "./object-store.ts";

let root: string;
let store: LocalObjectStore;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "weir-objects-"));
  store = new LocalObjectStore(root);
  await store.open();
});

afterEach(() => rm(root, { recursive: true, force: true }));

const text = async (key: string, range?: { start: number; end: number }) =>
  String(await buffer(await store.read(key, range)));

test("what was put is read back, whole and in ranges", async () => {
  await store.put("v1/p/a.m4s", Buffer.from("0123456789"));
  expect(await text("v1/p/a.m4s")).toBe("0123456789");
  expect(await text("v1/p/a.m4s", { start: 2, end: 4 })).toBe("234");
  expect(await store.size("v1/p/a.m4s")).toBe(10);
});

test("a file is put by its content, and stays", async () => {
  const source = join(root, "source");
  await writeFile(source, "abc");
  await store.putFile("v1/p/b", source);
  await store.putFile("v1/p/c", source);
  expect(await text("v1/p/b")).toBe("abc");
});

test("a file on the same disk is put without a copy of its bytes", async () => {
  const source = join(root, "source");
  await writeFile(source, "abc");
  await store.putFile("v1/p/b", source);
  expect((await stat(join(root, "v1/p/b"))).ino).toBe((await stat(source)).ino);
  await store.putFile("v1/p/b", source);
  expect(await readdir(join(root, "unfinished"))).toEqual([]);
});

test("a stream is put whole, or not at all where it fails", async () => {
  await store.putStream("v1/p/s", Readable.from([Buffer.from("ab"), Buffer.from("c")]));
  expect(await text("v1/p/s")).toBe("abc");
  const broken = (async function* () {
    yield Buffer.from("half");
    throw new Error("the sender left");
  })();
  await expect(store.putStream("v1/p/t", broken)).rejects.toThrow("the sender left");
  expect(await store.size("v1/p/t")).toBeNull();
  expect(await readdir(join(root, "unfinished"))).toEqual([]);
});

test("all objects below a prefix are deleted, and none beside it", async () => {
  for (const key of ["v1/p/rec/s1/a", "v1/p/rec/s1/deep/b", "v1/p/rec/s10/c"]) await store.put(key, Buffer.from("x"));
  await store.deletePrefix("v1/p/rec/s1/");
  expect(await store.size("v1/p/rec/s1/deep/b")).toBeNull();
  expect(await store.size("v1/p/rec/s10/c")).toBe(1);
  await store.deletePrefix("v1/p/rec/none/");
  await expect(store.deletePrefix("v1/p/rec/s1")).rejects.toThrow("ends with a slash");
  for (const wrong of ["", "/", "v1/", "v1/../"]) await expect(store.deletePrefix(wrong)).rejects.toThrow();
});

test("a second put under a key replaces the object whole", async () => {
  await store.put("v1/p/a", Buffer.from("long content"));
  await store.put("v1/p/a", Buffer.from("new"));
  expect(await text("v1/p/a")).toBe("new");
});

test("an object that is not there: read throws, size is null, delete is no error", async () => {
  await store.put("v1/p/a", Buffer.from("x"));
  for (const key of ["v1/p/none", "v1/none/none", "v1/p/a/below", "v1/p"]) {
    await expect(store.read(key)).rejects.toThrow(ObjectNotFound);
    expect(await store.size(key)).toBeNull();
    await store.delete(key);
  }
});

test("a deleted object is gone", async () => {
  await store.put("v1/p/a", Buffer.from("x"));
  await store.delete("v1/p/a");
  expect(await store.size("v1/p/a")).toBeNull();
});

test("a put that fails leaves nothing behind", async () => {
  await expect(store.putFile("v1/p/a", join(root, "no such file"))).rejects.toThrow("ENOENT");
  expect(await readdir(join(root, "unfinished"))).toEqual([]);
});

test("opening drops what an earlier run left unfinished", async () => {
  await writeFile(join(root, "unfinished", "x"), "half");
  await store.open();
  expect(await readdir(join(root, "unfinished"))).toEqual([]);
});

describe("keys that are none of ours are refused", () => {
  test.each([
    "",
    "v1",
    "/v1/a",
    "v1//a",
    "v1/a/",
    "v1/../a",
    "v1/./a",
    "v1/.a",
    "v2/a",
    "v1/a b",
    "v1/a\0",
    "v1\\a",
    "v1/%2e%2e/a",
    "v1/ä",
    `v1/${"a".repeat(129)}`,
    `v1${"/a".repeat(12)}`,
  ])("%j", async (key) => {
    await expect(store.put(key, Buffer.from("x"))).rejects.toThrow("is not a key");
    await expect(store.read(key)).rejects.toThrow("is not a key");
  });
});

test("a symbolic link in the store is not followed, neither as a file nor as a folder", async () => {
  const outside = await mkdtemp(join(tmpdir(), "weir-outside-"));
  await writeFile(join(outside, "secret"), "secret");
  await mkdir(join(root, "v1", "p"), { recursive: true });
  await symlink(join(outside, "secret"), join(root, "v1", "p", "link"));
  await symlink(outside, join(root, "v1", "folder"));
  await expect(store.read("v1/p/link")).rejects.toThrow(ObjectNotFound);
  await expect(store.read("v1/folder/secret")).rejects.toThrow(ObjectNotFound);
  await store.deletePrefix("v1/folder/");
  await expect(store.put("v1/folder/new", Buffer.from("x"))).rejects.toThrow("is not a folder of ours");
  expect(await readdir(outside)).toEqual(["secret"]);
  await rm(outside, { recursive: true });
});
