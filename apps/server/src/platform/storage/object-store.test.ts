import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Clock, systemClock } from "../clock.ts";
import { ManualClock } from "../manual-clock-rig.ts";
import { LocalObjectStore } from "./local-object-store.ts";
import { testObjectStore } from "./object-store-test-suite.ts";
import { S3ObjectStore } from "./s3-object-store.ts";
import { type S3TestServer, startS3TestServer } from "./s3-test-server.ts";

let s3: S3TestServer;

beforeAll(async () => {
  s3 = await startS3TestServer();
});

afterAll(() => s3.close());

testObjectStore("files", async (folder) => {
  const store = new LocalObjectStore(join(folder, "objects"));
  await store.open();
  return store;
});

testObjectStore("S3", async () => new S3ObjectStore(s3.settings, systemClock));

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
  expect(store.addressOrigin).toBe(new URL(url).origin);
  const without = new S3ObjectStore(s3.settings, systemClock);
  expect([without.urlOf, without.addressOrigin]).toEqual([undefined, undefined]);
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

test("what is signed is what arrives, also in a request for a range", async () => {
  const sent: (readonly [string, string])[] = [];
  await using fake = await serveS3(({ headers }, response) => {
    const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? "")?.[1]?.split(";") ?? [];
    for (const name of names) sent.push([name, String(headers[name])]);
    response.writeHead(206, { "content-range": "bytes 2-4/10" }).end("234");
  });
  await buffer(await fake.store.read("v1/p/a", { start: 2, end: 4 }));
  expect(sent.map(([name]) => name)).toEqual(["host", "x-amz-content-sha256", "x-amz-date"]);
});

test("a store that asks to slow down is asked again, and gets the whole object", async () => {
  let asked = 0;
  await using fake = await serveS3((request, response) => {
    request.resume();
    if (++asked < 3) response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
    else response.writeHead(200).end();
  });
  await fake.store.put("v1/p/a", Buffer.from("x"));
  expect(asked).toBe(3);
});

test("parts of an upload that fails, by the store or by its sender, are taken back", async () => {
  const taken: string[] = [];
  await using fake = await serveS3((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://s3");
    request.resume();
    if (request.method === "DELETE") taken.push(searchParams.get("uploadId") ?? "");
    if (request.method === "POST") return response.end("<UploadId>begun</UploadId>");
    const isRefused = searchParams.get("partNumber") === "2";
    return response.writeHead(isRefused ? 403 : 200, { etag: '"1"' }).end("<Error><Code>AccessDenied</Code></Error>");
  });
  const large = Readable.from([Buffer.alloc(9 * 1024 * 1024)]);
  await expect(fake.store.putStream("v1/p/a", large)).rejects.toMatchObject({ code: "AccessDenied" });
  const broken = (async function* () {
    yield Buffer.from("half");
    throw new Error("the sender left");
  })();
  await expect(fake.store.putStream("v1/p/b", broken)).rejects.toThrow("the sender left");
  expect(taken).toEqual(["begun", "begun"]);
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
