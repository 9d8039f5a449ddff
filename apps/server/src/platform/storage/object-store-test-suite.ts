/** For tests: what every driver of the object store does, run against one of them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ObjectNotFound, type ObjectStore } from "./object-store.ts";
import { testStore } from "./store-self-test.ts";

/** `open` is called before each test, with a folder that is gone after it. */
export function testObjectStore(name: string, open: (folder: string) => Promise<ObjectStore>): void {
  describe(`a store in ${name}`, () => {
    let store: ObjectStore;
    let folder: string;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "weir-objects-"));
      store = await open(folder);
    });

    afterEach(async () => {
      await store.deletePrefix("v1/p/");
      await rm(folder, { recursive: true, force: true });
    });

    const text = async (key: string, range?: { start: number; end: number }) =>
      String(await buffer(await store.read(key, range)));

    test("tells what lies below a prefix, one level down", async () => {
      // The S3 server of these tests finds only folders that have objects of their own.
      for (const key of ["v1/p/a", "v1/p/rec/a/1", "v1/p/rec/a/2", "v1/p/rec/b-1/x", "v1/p/rec/b/x", "v1/p/rec/none"])
        await store.put(key, Buffer.from("x"));
      expect((await store.children("v1/p/rec/")).sort()).toEqual(["a", "b", "b-1"]);
      expect(await store.children("v1/p/nothing/")).toEqual([]);
      await expect(store.children("v1/p/rec")).rejects.toThrow();
    });

    test("tells the keys of all objects", async () => {
      const keys = ["v1/p/a", "v1/p/rec/a/1", "v1/p/rec/b/2"];
      for (const key of keys) await store.put(key, Buffer.from("x"));
      const found: string[] = [];
      for await (const key of store.keys()) if (key.startsWith("v1/p/")) found.push(key);
      expect(found.sort()).toEqual(keys);
    });

    test("does what its own test at the start asks", async () => {
      await testStore(store);
    });

    test("what was put is read back, whole and in ranges", async () => {
      await store.put("v1/p/a.m4s", Buffer.from("0123456789"));
      expect(await text("v1/p/a.m4s")).toBe("0123456789");
      expect(await text("v1/p/a.m4s", { start: 2, end: 4 })).toBe("234");
      expect(await store.size("v1/p/a.m4s")).toBe(10);
    });

    test("all objects below a prefix are deleted, and none beside it", async () => {
      for (const key of ["v1/p/rec/s1/a", "v1/p/rec/s1/deep/b", "v1/p/rec/s10/c"])
        await store.put(key, Buffer.from("x"));
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

    test("a deleted object is gone", async () => {
      await store.put("v1/p/a", Buffer.from("x"));
      await store.delete("v1/p/a");
      expect(await store.size("v1/p/a")).toBeNull();
    });

    test("a file is put by its content, and stays", async () => {
      const source = join(folder, "source");
      await writeFile(source, "abc");
      await store.putFile("v1/p/b", source);
      await store.putFile("v1/p/c", source);
      expect([await text("v1/p/b"), await text("v1/p/c")]).toEqual(["abc", "abc"]);
    });

    test("a file of 20 MB is put whole", async () => {
      const source = join(folder, "source");
      const bytes = Buffer.alloc(20_000_000, "0123456789");
      await writeFile(source, bytes);
      await store.putFile("v1/p/large", source);
      expect(await store.size("v1/p/large")).toBe(bytes.byteLength);
      expect(await text("v1/p/large", { start: 8_388_600, end: 8_388_620 })).toBe(
        `${bytes.subarray(8_388_600, 8_388_621)}`,
      );
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
    });

    test("an object that is not there: read throws, size is null, delete is no error", async () => {
      await expect(store.read("v1/p/none")).rejects.toThrow(ObjectNotFound);
      expect(await store.size("v1/p/none")).toBeNull();
      await store.delete("v1/p/none");
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
  });
}
