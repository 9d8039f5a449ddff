import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Clock, ManualClock, systemClock } from "../clock.ts";
import { LocalObjectStore } from "./local-object-store.ts";
import { ObjectNotFound, type ObjectStore } from "./object-store.ts";
import { S3ObjectStore } from "./s3-object-store.ts";
import { type S3TestServer, startS3TestServer } from "./s3-test-server.ts";
import { testStore } from "./store-self-test.ts";

let folder: string;
let s3: S3TestServer;

beforeAll(async () => {
  s3 = await startS3TestServer();
});

afterAll(() => s3.close());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-objects-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const drivers: readonly [string, () => Promise<ObjectStore>][] = [
  [
    "files",
    async () => {
      const store = new LocalObjectStore(join(folder, "objects"));
      await store.open();
      return store;
    },
  ],
  ["S3", async () => new S3ObjectStore(s3.settings, systemClock)],
];

describe.each(drivers)("a store in %s", (_, open) => {
  let store: ObjectStore;

  beforeEach(async () => {
    store = await open();
  });

  afterEach(async () => {
    await store.deletePrefix("v1/p/");
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

test("an address of an object gives it to anybody, whole and in ranges, as the content type that was asked for", async () => {
  const store = new S3ObjectStore(s3.settings, systemClock, { hasAddresses: true });
  await store.put("v1/p/span.m4s", Buffer.from("0123456789"));
  const url = (await store.urlOf?.("v1/p/span.m4s", 60_000, "video/mp4")) ?? "";
  const whole = await fetch(url);
  expect([whole.status, whole.headers.get("content-type"), await whole.text()]).toEqual([
    200,
    "video/mp4",
    "0123456789",
  ]);
  const part = await fetch(url, { headers: { range: "bytes=2-4" } });
  expect([part.status, await part.text()]).toEqual([206, "234"]);
  expect(new S3ObjectStore(s3.settings, systemClock).urlOf).toBeUndefined();
});

/** An S3 store of our own, where those of tests are not true enough. */
async function serveS3(
  answer: RequestListener,
  clock: Clock = systemClock,
): Promise<AsyncDisposable & { readonly store: S3ObjectStore }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const store = new S3ObjectStore({ ...s3.settings, endpoint: `http://127.0.0.1:${port}` }, clock);
  return {
    store,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("more objects than S3 lists at a time are deleted by their prefix, also where it does not say that there are more", async () => {
  const keys = new Set(Array.from({ length: 2_500 }, (_, i) => `v1/p/many/${String(i).padStart(4, "0")}`));
  await using fake = await serveS3(({ method, url = "" }, response) => {
    const { pathname, searchParams } = new URL(url, "http://s3");
    if (method === "DELETE") {
      keys.delete(pathname.slice("/weir-test/".length));
      return response.writeHead(204).end();
    }
    const after = searchParams.get("start-after") ?? "";
    const page = [...keys]
      .sort()
      .filter((key) => key > after)
      .slice(0, 1_000);
    const entries = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join("");
    return response.end(`<ListBucketResult><IsTruncated>false</IsTruncated>${entries}</ListBucketResult>`);
  });
  await fake.store.deletePrefix("v1/p/many/");
  expect(keys.size).toBe(0);
});

test("an answer that is late, or stops in the middle, is given up; a slow reader is not", async () => {
  const clock = new ManualClock();
  await using fake = await serveS3((_, response) => {
    response.writeHead(200, { "content-length": "10" });
    response.write("01234");
  }, clock);
  const stopped = await fake.store.read("v1/p/a");
  const reading = stopped[Symbol.asyncIterator]();
  expect(String((await reading.next()).value)).toBe("01234");
  const rest = reading.next();
  clock.advance(30_000);
  await expect(rest).rejects.toThrow("nothing within 30 s");

  let asked = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  await using silent = await serveS3(() => asked(), clock);
  const late = expect(silent.store.read("v1/p/a")).rejects.toThrow("nothing within 10 s");
  await arrived;
  clock.advance(10_000);
  await late;
});

test("a list that stops in the middle is given up", async () => {
  const clock = new ManualClock();
  await using fake = await serveS3((_, response) => void response.write("<ListBucketResult>"), {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    every: (ms, action) => clock.every(ms, action),
    after(ms, action) {
      const timer = clock.after(ms, action);
      if (ms === 20_000) clock.advance(ms);
      return timer;
    },
  });
  await expect(fake.store.deletePrefix("v1/p/a/")).rejects.toThrow("nothing within 20 s");
});

test("a store that ignores ranges is not believed", async () => {
  await using fake = await serveS3((_, response) => response.end("0123456789"));
  await expect(fake.store.read("v1/p/a", { start: 2, end: 4 })).rejects.toThrow("ignores ranges");
});

test("an S3 store that is away is told from an object that is not there, and no secret is in the error", async () => {
  const ask = async ({ store }: { readonly store: S3ObjectStore }) => {
    const asked = [store.size("v1/p/a"), store.read("v1/p/a"), store.put("v1/p/a", Buffer.from("x"))];
    return Promise.all(asked.map((answer) => answer.catch((error: unknown) => error)));
  };
  await using fake = await serveS3((_, response) => response.writeHead(503).end());
  for (const error of await ask(fake)) {
    expect(error).toMatchObject({ status: 503, message: expect.stringContaining("v1/p/a") });
    expect(JSON.stringify(error) + String(error)).not.toContain("S3RVER");
  }
  const gone = await serveS3(() => {});
  const { store } = gone;
  await gone[Symbol.asyncDispose]();
  for (const error of await ask({ store })) expect(error).toMatchObject({ status: null });
});
