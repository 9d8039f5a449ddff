import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
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

test("an object that is not there: read throws, size is null, delete is no error", async () => {
  await store.put("v1/p/a", Buffer.from("x"));
  for (const key of ["v1/p/none", "v1/none/none", "v1/p/a/below", "v1/p"]) {
    await expect(store.read(key)).rejects.toThrow(ObjectNotFound);
    expect(await store.size(key)).toBeNull();
    await store.delete(key);
  }
});

test("memory is filled from an object; one that is not there, or was deleted, fills none", async () => {
  await store.put("v1/p/a", Buffer.from("abcdef"));
  const [first, second] = [Buffer.alloc(2), Buffer.alloc(3)];
  expect(await store.fill("v1/p/a", [first, second], 1)).toBe(5);
  expect(`${first} ${second}`).toBe("bc def");
  await store.deletePrefix("v1/p/");
  for (const key of ["v1/p/a", "v1/p/none", "v1/p"]) expect(await store.fill(key, [first], 0)).toBeNull();
  await expect(store.fill("v1/../../etc/hosts", [first], 0)).rejects.toThrow("is not a key of an object");
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

test("a symbolic link in the store is not followed, neither as a file nor as a folder", async () => {
  const outside = await mkdtemp(join(tmpdir(), "weir-outside-"));
  await writeFile(join(outside, "secret"), "secret");
  await mkdir(join(root, "v1", "p"), { recursive: true });
  await symlink(join(outside, "secret"), join(root, "v1", "p", "link"));
  await symlink(outside, join(root, "v1", "folder"));
  await expect(store.read("v1/p/link")).rejects.toThrow(ObjectNotFound);
  await expect(store.read("v1/folder/secret")).rejects.toThrow(ObjectNotFound);
  for (const key of ["v1/p/link", "v1/folder/secret"]) expect(await store.fill(key, [Buffer.alloc(1)], 0)).toBeNull();
  await store.deletePrefix("v1/folder/");
  await expect(store.put("v1/folder/new", Buffer.from("x"))).rejects.toThrow("is not a folder of ours");
  expect(await readdir(outside)).toEqual(["secret"]);
  await rm(outside, { recursive: true });
});
