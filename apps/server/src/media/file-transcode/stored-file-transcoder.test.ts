import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { Turns } from "../../platform/limits/turns.ts";
import { silentLog } from "../../platform/log.ts";
import { Outbound } from "../../platform/outbound/outbound.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { S3Bucket } from "../../platform/storage/s3-bucket.ts";
import { type S3TestServer, startS3TestServer } from "../../platform/storage/s3-test-server.ts";
import { type AssetProcessor, TaskFailed, type TranscodeWork } from "../../ports/index.ts";
import { AssetPipeline } from "../vod/asset-pipeline.ts";
import { decodePictures } from "../vod/decoded-file-rig.ts";
import { makeFile } from "../vod/media-file-rig.ts";
import { everyFrame } from "../vod/media-track-rig.ts";
import { SourceFiles } from "../vod/source-files.ts";
import { VodChildren } from "../vod/vod-children.ts";
import { StoredFileTranscoder } from "./stored-file-transcoder.ts";

const GB = 1024 ** 3;
let s3: S3TestServer;
let bucket: S3Bucket;
let folder: string;
let store: LocalObjectStore;
let clip: Buffer;

beforeAll(async () => {
  s3 = await startS3TestServer();
  bucket = new S3Bucket(s3.settings, systemClock);
  await using made = await makeFile({
    format: "mp4",
    video: { encoder: "libx264", options: { preset: "ultrafast" }, times: everyFrame(5, 2), gopFrames: 5 },
    audio: { encoder: "aac", seconds: 2 },
  });
  clip = await readFile(made.path);
  await bucket.put("films/one +ü.mov", clip);
});
afterAll(() => s3.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-transcode-"));
  store = new LocalObjectStore(join(folder, "objects"));
  await store.open();
  return () => rm(folder, { recursive: true, force: true });
});

const account = () => {
  const { endpoint, bucket: name, region, accessKeyId, secretAccessKey } = s3.settings;
  const credentials = { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() };
  return { endpoint, bucket: name, region, ...credentials };
};

const workOf = (changes: Partial<TranscodeWork> = {}): TranscodeWork => ({
  ...{ taskId: "task-1", projectId: "project-1", attempt: 1, maxBytes: GB },
  input: { bucket: account(), key: "films/one +ü.mov" },
  storage: account(),
  outputs: { hls: ["out put/hls/"], mp4: ["mp4/"] },
  profiles: [{ name: "small", height: 64, bitrate: 100_000 }],
  targetSegmentSeconds: null,
  ...changes,
});

/** A store with the same response to every request. */
async function answering(status: number, code: string) {
  const server = createServer((_, response) => {
    response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    account: { ...account(), endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const nothingMade: AssetProcessor = { process: () => Promise.reject(new Error("it should not come to this")) };

function transcoder({
  processor = nothingMade,
  freeBytes = 1000 * GB,
  allowPrivate = true,
}: {
  processor?: AssetProcessor;
  freeBytes?: number;
  allowPrivate?: boolean;
} = {}) {
  const own = () => ({ ports: [], publicUrl: "http://weir.test" });
  const outbound = new Outbound({ clock: systemClock, allowPrivate, own });
  return new StoredFileTranscoder({ clock: systemClock, store, processor, outbound, freeBytes: () => freeBytes });
}

const told: number[] = [];
const how = {
  signal: new AbortController().signal,
  progressed: async (fraction: number) => void told.push(fraction),
};

/** The error that ends or delays the task. */
async function failureOf(work: Partial<TranscodeWork>, options: Parameters<typeof transcoder>[0] = {}) {
  const error = await transcoder(options)
    .transcode(workOf(work), how)
    .catch((cause: unknown) => cause);
  if (!(error instanceof TaskFailed)) throw error;
  const { secretAccessKey, accessKeyId } = account();
  expect(`${error.stack} ${error.cause}`).not.toMatch(new RegExp(`[^-]${secretAccessKey}|${accessKeyId}=`));
  return error;
}

test("a file in a bucket becomes playable HLS and MP4 in another folder", async () => {
  const sources = new SourceFiles(store, join(folder, "sources"), () => GB);
  await sources.open();
  const turns = new Turns({ atATime: 1 });
  const processor = new AssetPipeline({
    ...{ clock: systemClock, log: silentLog, store, sources, preset: "ultrafast" },
    ...{ children: new VodChildren(systemClock), scans: turns, chunks: turns },
  });
  const spec = await transcoder({ processor }).transcode(workOf(), how);
  expect(spec.duration).toBeCloseTo(2, 0);

  const main = await text(await bucket.read("out put/hls/index.m3u8"));
  const playlists = [...main.matchAll(/^(?!#)(.+)$|URI="([^"]+)"/gm)].map(([, line, uri]) => line ?? uri ?? "");
  expect(playlists).toHaveLength(3);
  for (const playlist of playlists) {
    const media = await text(await bucket.read(`out put/hls/${playlist}`));
    const files = new Set([...media.matchAll(/^(?!#)(.+)$|URI="([^"]+)"/gm)].map(([, line, uri]) => line ?? uri));
    for (const file of files) {
      const bytes = await buffer(await bucket.read(`out put/hls/${playlist.replace("index.m3u8", file ?? "")}`));
      expect(bytes.byteLength).toBeGreaterThan(0);
    }
  }
  for (const name of ["source", "small"]) {
    const mp4 = await buffer(await bucket.read(`mp4/static${name}.mp4`));
    expect((await decodePictures(mp4)).length).toBe(10);
  }
  expect(told.at(-1)).toBeGreaterThan(0);
});

test("wrong credentials, a missing bucket and a missing file are reported before the download", async () => {
  // The S3 test server accepts any secret.
  await using wrongSecret = await answering(403, "SignatureDoesNotMatch");
  await using elsewhere = await answering(301, "PermanentRedirect");
  await using readOnly = await answering(403, "AccessDenied");
  await using empty = await answering(416, "InvalidRange");
  const nowhere = { ...account(), bucket: "nowhere" };
  const cases: readonly [Partial<TranscodeWork>, RegExp][] = [
    [{ storage: wrongSecret.account }, /rejects the credentials \(SignatureDoesNotMatch\)/],
    [{ storage: readOnly.account }, /have no permission to write to the bucket weir-test at 127.* \(AccessDenied\)/],
    [{ storage: elsewhere.account }, /is in another region/],
    [{ input: { bucket: empty.account, key: "a" } }, /is empty/],
    [{ storage: { ...account(), accessKeyId: "nobody" } }, /rejects the credentials \(InvalidAccessKeyId\)/],
    [{ storage: nowhere }, /There is no bucket nowhere at 127\.0\.0\.1/],
    [{ input: { bucket: wrongSecret.account, key: "films/one +ü.mov" } }, /rejects the credentials/],
    [{ input: { bucket: nowhere, key: "a" } }, /There is no bucket nowhere/],
    [{ input: { bucket: account(), key: "films/two.mov" } }, /There is no file films\/two\.mov in the bucket/],
    [{ input: { url: "http://127.0.0.1:9/x.mp4" } }, /port 9 is not allowed|refused/],
  ];
  for (const [work, sentence] of cases) {
    const error = await failureOf(work);
    expect(error.message).toMatch(sentence);
    expect(error.isFinal).toBe(true);
  }
});

test("a full server, a full bucket and an oversized file are reported", async () => {
  expect((await failureOf({}, { freeBytes: 1000 })).message).toMatch(
    /The server has too little disk space for the input file/,
  );
  expect((await failureOf({ maxBytes: 100 })).message).toMatch(/the file is larger than 100 bytes/);
  await using full = await answering(507, "InsufficientStorage");
  const error = await failureOf({ storage: full.account });
  expect(error.message).toMatch(/has not enough space for the files \(InsufficientStorage\)/);
});

test("an endpoint in our network is not called, whatever the credentials", async () => {
  const error = await failureOf({}, { allowPrivate: false });
  expect(error).toMatchObject({ isFinal: true, message: expect.stringMatching(/cannot be accessed: .*private/) });
  const input = await failureOf({ input: { url: `${account().endpoint}/x` } });
  expect(input.message).toMatch(/the host answered 40[34]/);
});

test("a temporarily unavailable store does not fail the task, and a downloaded file is not downloaded again", async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
  const away = { ...account(), endpoint: `http://127.0.0.1:${(gone.address() as AddressInfo).port}` };
  gone.close();
  const processor: AssetProcessor = { process: () => Promise.reject(new Error("a child died")) };
  await expect(transcoder({ processor }).transcode(workOf(), how)).rejects.toThrow("a child died");
  expect(await store.size("v1/project-1/transcode/task-1/source/original")).toBe(clip.length);
  expect(await failureOf({ storage: away })).toMatchObject({
    isFinal: false,
    message: expect.stringMatching(/bucket weir-test at 127.* does not respond/),
  });
  const refused: AssetProcessor = {
    process: () => Promise.reject(new TaskFailed("This is no video.", { isFinal: true })),
  };
  const input = { bucket: account(), key: "films/two.mov" };
  await expect(transcoder({ processor: refused }).transcode(workOf({ input }), how)).rejects.toThrow(
    "This is no video.",
  );
});
