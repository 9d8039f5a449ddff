import { rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { Outbound, type OutboundStream } from "../../platform/outbound/outbound.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { makeTestFolder } from "../../platform/test-folder-rig.ts";
import { type ExportWork, type MediaIndex, TaskFailed } from "../../ports/index.ts";
import { StoredFileExporter } from "./stored-file-exporter.ts";

const FILE = Buffer.alloc(1_500_000, "film");
const KEY = "v1/project-1/asset/asset-1/source/original";
const MEDIA: MediaIndex = {
  ...{ id: "asset-1", projectId: "project-1", keyPrefix: "v1/project-1/asset/asset-1/out/1/", renditions: [] },
  original: { key: KEY, bytes: FILE.length, sha256: "ab12", name: "film.mov" },
};
const SECRET = "Bearer secret-of-the-customer";

type Receive = (request: IncomingMessage, response: ServerResponse) => void;

/** A receiver of a customer's, and an exporter whose store has the file. */
async function open(receive: Receive, { allowPrivate = true } = {}) {
  const server = createServer(receive);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = makeTestFolder("export");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store = new LocalObjectStore(folder);
  await store.open();
  await store.put(KEY, FILE);
  const own = () => ({ ports: [], publicUrl: "http://weir.test" });
  const exporter = new StoredFileExporter({
    ...{ clock: systemClock, store },
    outbound: new Outbound({ clock: systemClock, allowPrivate, own }),
  });
  const told: number[] = [];
  const abort = new AbortController();
  const how = { signal: abort.signal, progressed: async (fraction: number) => void told.push(fraction) };
  const work: ExportWork = {
    ...{ taskId: "task-1", media: MEDIA, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?sig=1` },
    ...{ method: "PUT", headers: { authorization: SECRET } },
  };
  const send = (changes: Partial<ExportWork> = {}) => exporter.send({ ...work, ...changes }, how);
  const failure = async (changes: Partial<ExportWork> = {}) => {
    const error: unknown = await send(changes).catch((cause: unknown) => cause);
    if (!(error instanceof TaskFailed)) throw error;
    expect(`${error.stack}`).not.toMatch(/secret-of-the-customer|sig=1/);
    return error;
  };
  return { send, failure, told, abort };
}

test("a receiver gets the original byte for byte, its length, and the customer's headers", async () => {
  const got = Promise.withResolvers<{ line: string; headers: IncomingHttpHeaders; bytes: Buffer }>();
  const { send, told } = await open(async (request, response) => {
    const line = `${request.method} ${request.url}`;
    got.resolve({ line, headers: request.headers, bytes: await buffer(request) });
    response.writeHead(201).end("thanks");
  });
  await send();
  const { line, headers, bytes } = await got.promise;
  expect(line).toBe("PUT /a?sig=1");
  expect(bytes.equals(FILE)).toBe(true);
  expect(headers).toMatchObject({
    ...{ authorization: SECRET, "content-type": "application/octet-stream", "user-agent": "weir" },
    "content-length": String(FILE.length),
  });
  expect(told[0]).toBeGreaterThan(0);
});

test("the customer's headers replace ours", async () => {
  const got = Promise.withResolvers<[string | undefined, string | undefined]>();
  const { send } = await open((request, response) => {
    got.resolve([request.method, request.headers["content-type"]]);
    request.resume().once("end", () => response.end());
  });
  await send({ method: "POST", headers: { "content-type": "video/quicktime" } });
  expect(await got.promise).toEqual(["POST", "video/quicktime"]);
});

test.each([
  [307, true, /redirects \(307\), which Weir does not follow/],
  [403, true, /refused it \(403\): check the headers/],
  [404, true, /answered 404/],
  [413, true, /answered 413/],
  [429, false, /answered 429/],
  [503, false, /answered 503/],
])("an answer of %i is final: %s, and said in words", async (status, isFinal, words) => {
  const paths: (string | undefined)[] = [];
  const { failure } = await open((request, response) => {
    paths.push(request.url);
    request.resume().once("end", () => response.writeHead(status, { location: "/elsewhere" }).end());
  });
  expect(await failure()).toMatchObject({ isFinal, message: expect.stringMatching(words) });
  expect(paths).toEqual(["/a?sig=1"]);
});

test("a receiver that hangs up may be back later; an address in our network is never called", async () => {
  const { failure } = await open((request) => void request.socket.destroy());
  expect(await failure()).toMatchObject({ isFinal: false, message: expect.stringMatching(/reset|closed/) });
  let calls = 0;
  const guarded = await open(() => void calls++, { allowPrivate: false });
  expect(await guarded.failure()).toMatchObject({ isFinal: true, message: expect.stringMatching(/private/) });
  expect(calls).toBe(0);
});

test("a receiver that says thanks before it has the whole file does not complete the export", async () => {
  async function* read() {
    yield FILE.subarray(0, 1000);
    yield FILE.subarray(1000);
  }
  const response = new PassThrough();
  const answersEarly: Outbound["send"] = async ({ body }) => {
    await (body as OutboundStream).chunks[Symbol.asyncIterator]().next();
    return { ok: true, status: 200, response: response as unknown as IncomingMessage };
  };
  const exporter = new StoredFileExporter({
    ...{ clock: systemClock, store: { read: async () => Readable.from(read()) }, outbound: { send: answersEarly } },
  });
  const work: ExportWork = { taskId: "task-1", media: MEDIA, url: "https://a.example/", method: "PUT", headers: {} };
  const how = { signal: new AbortController().signal, progressed: async () => {} };
  const error: unknown = await exporter.send(work, how).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(TaskFailed);
  expect(error).toMatchObject({ isFinal: false, message: expect.stringMatching(/200 before it had the whole file/) });
});

test("an export whose job is stopped ends at once, and the receiver gets no whole file", async () => {
  let isWhole = false;
  const { send, abort } = await open((request) => {
    request
      .on("error", () => {})
      .once("end", () => {
        isWhole = true;
      });
    request.once("data", () => abort.abort(new Error("the process stops")));
  });
  await expect(send()).rejects.toThrow("the process stops");
  expect(isWhole).toBe(false);
});

test("an original that is gone from the store fails in words", async () => {
  const { failure } = await open((_, response) => response.end());
  const media = { ...MEDIA, original: { key: `${KEY}-no`, bytes: 1, sha256: "", name: "" } };
  expect(await failure({ media })).toMatchObject({ isFinal: true, message: expect.stringMatching(/bytes are gone/) });
});
