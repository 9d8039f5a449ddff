import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import type { ObjectStore } from "../../../platform/storage/object-store.ts";
import type { MediaCatalogue, MediaIndex, StoredContent, StoredSegment } from "../../../ports/index.ts";
import { ArchiveBytes } from "../archive/archive-bytes.ts";
import { ArchiveShelf } from "../archive/archive-shelf.ts";
import type { Admission, Viewing } from "../front/admission.ts";
import { type HttpProtocol, MediaRequest } from "../http/media-request.ts";
import type { HlsAddress } from "./hls-addresses.ts";
import { StoredDelivery } from "./stored-delivery.ts";

/** Two days of five renditions have some more. */
const LONG = 200_000;

const CONTENT = { kind: "recording", id: "short", projectId: "project-1" } as const;
const TARGET = { playbackId: "recording1", protocol: "hls", token: null } as const;

function start(store = {} as ObjectStore) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const reading = { now: 0, most: 0 };
  const mediaIndex = async ({ id, projectId }: StoredContent): Promise<MediaIndex> => {
    asked.push(id);
    reading.most = Math.max(reading.most, ++reading.now);
    await turnOfTheLoop();
    reading.now--;
    if (id.startsWith("unreadable")) throw new Error("the database is away");
    const segment: StoredSegment = {
      epoch: 1,
      msn: 0,
      init: "init",
      span: "span",
      offset: 0,
      length: 1,
      startTicks: 0,
      durationTicks: 1,
      programDateTimeMs: 0,
      discontinuity: false,
      gap: false,
    };
    const count = id.startsWith("long") ? LONG : 1;
    const track = { kind: "video", codec: "avc", codecString: "avc1", config: "", timescale: 1 } as const;
    const renditions = [
      {
        rendition: "source",
        track,
        segments: [
          ...Array<StoredSegment>(count).fill(segment),
          ...(id.startsWith("gap") ? [{ ...segment, gap: true }] : []),
        ],
        spanBytes: new Map([["span", 1]]),
      },
    ];
    const isGrowing = id.startsWith("growing");
    return { id, projectId, keyPrefix: "v1/project-1/rec/", renditions, isGrowing };
  };
  const bytes = new ArchiveBytes(store, 10);
  const shelf = new ArchiveShelf(clock, { mediaIndex } as MediaCatalogue, store);
  const delivery = new StoredDelivery(store, shelf, bytes);
  const play = async (sessionId: string): Promise<number> => {
    const before = asked.length;
    const res = { writeHead: () => {}, end: () => {} } as unknown as ServerResponse;
    const request = requestFor(
      { kind: "multivariant", ...TARGET, step: "open", isDvr: false },
      {} as IncomingMessage,
      res,
    );
    await delivery.serve(request, admissionTo(sessionId), { ...CONTENT, id: sessionId });
    return asked.length - before;
  };
  return { clock, play, reading, delivery };
}

function requestFor(address: HlsAddress, req: IncomingMessage, res: ServerResponse): MediaRequest<HlsAddress> {
  return new MediaRequest(req, res, "", { address, protocol: {} as HttpProtocol<HlsAddress> }, new TrustedProxies([]));
}

function handOver(): never {
  throw new Error("stored media is at every node");
}

function admissionTo(id: string): Admission {
  const viewing: Viewing = { token: "-", playerId: null, whileAllowed: () => () => {} };
  return { content: { ...CONTENT, id }, isShared: true, countViewer: () => viewing, handOver, missed() {} };
}

/** Files of the recording over HTTP. */
async function serveFiles(store: ObjectStore, id = "short"): Promise<number> {
  const { delivery } = start(store);
  const server = createServer((req, res) => {
    const file = req.url?.slice(1) ?? "";
    const place = {
      timeline: id,
      rendition: "source",
      file,
      media: null,
      blocking: null,
      dvrMsn: null,
      skip: false as const,
    };
    const asked = requestFor({ kind: "file", ...TARGET, step: "media", ...place }, req, res);
    delivery.serve(asked, admissionTo(id), { ...CONTENT, id }).catch(() => res.destroy());
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

test("a player that asks for a gap gets an empty box, as of a live stream, and goes on", async () => {
  const ask = async (port: number) => fetch(`http://127.0.0.1:${port}/gap.m4s`);
  const answer = await ask(await serveFiles({} as ObjectStore, "gaps"));
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "video/mp4"]);
  expect(Buffer.from(await answer.arrayBuffer()).toString("latin1")).toBe("\0\0\0\x08free");
  expect((await ask(await serveFiles({} as ObjectStore))).status).toBe(404);
});

test("spans are redirected to a store with signed URLs; playlists, init segments and HEAD are not", async () => {
  const store = {
    urlOf: async (key: string, ttlMs: number, type?: string) => `https://s3.test/${key}?for=${ttlMs}&as=${type}`,
    size: async () => 4,
    read: async (_: string, { start, end } = { start: 0, end: 3 }) =>
      Readable.from([Buffer.from("init").subarray(start, end + 1)]),
  } as unknown as ObjectStore;
  const port = await serveFiles(store);
  const ask = async (file: string, method = "GET") => {
    const headers = { range: "bytes=0-1" };
    const answer = await fetch(`http://127.0.0.1:${port}/${file}`, { method, headers, redirect: "manual" });
    return [answer.status, answer.headers.get("location"), answer.headers.get("cache-control")];
  };
  expect(await ask("span")).toEqual([
    307,
    "https://s3.test/v1/project-1/rec/source/span?for=60000&as=video/mp4",
    "private, no-store",
  ]);
  expect((await ask("span", "HEAD"))[1]).toBeNull();
  expect((await ask("init"))[0]).toBe(206);
  expect((await ask("index.m3u8"))[0]).toBe(200);
  expect((await ask("another"))[0]).toBe(404);
});

test.each(["", "ini", "init."])(
  "an object of 4 bytes of which the store gives %j: the connection is cut, so that no other answer is taken for its rest",
  async (given) => {
    const store = { size: async () => 4, read: async () => Readable.from([Buffer.from(given)]) };
    const socket = connect(await serveFiles(store as unknown as ObjectStore), "127.0.0.1");
    let received = "";
    socket.on("data", (bytes) => (received += bytes));
    socket.on("error", () => {});
    socket.write("GET /init HTTP/1.1\r\nhost: a\r\n\r\nGET /another HTTP/1.1\r\nhost: a\r\n\r\n");
    await once(socket, "close");
    expect(received).not.toMatch(/ 404 |init\./);
  },
);

test("indexes are cached for a minute", async () => {
  const { clock, play } = start();
  expect([await play("short"), await play("short")]).toEqual([1, 0]);
  clock.advance(60_000);
  expect([await play("short"), await play("short")]).toEqual([1, 0]);
});

test("a growing index is refreshed after two seconds", async () => {
  const { clock, play } = start();
  expect([await play("growing"), await play("growing")]).toEqual([1, 0]);
  clock.advance(2_000);
  expect(await play("growing")).toBe(1);
});

test("long recordings evict each other; short ones stay cached next to a long one", async () => {
  const { play } = start();
  expect([await play("short"), await play("long-1"), await play("long-1"), await play("short")]).toEqual([1, 1, 0, 0]);
  expect([await play("long-2"), await play("short"), await play("long-2")]).toEqual([1, 0, 0]);
  expect(await play("long-1")).toBe(1);
});

test("concurrent requests share one read of the index", async () => {
  const { play } = start();
  const asked = await Promise.all(Array.from({ length: 20 }, () => play("short")));
  expect(Math.max(...asked)).toBe(1);
});

test("at most a hundred recordings are opened at once, and failures release their slot", async () => {
  const { play, reading } = start();
  const unreadable = Array.from({ length: 150 }, (_, n) => play(`unreadable-${n}`));
  const readable = Array.from({ length: 150 }, (_, n) => play(`short-${n}`));
  const outcomes = (await Promise.allSettled([...unreadable, ...readable])).map(({ status }) => status);
  expect(outcomes).toEqual([...Array(150).fill("rejected"), ...Array(150).fill("fulfilled")]);
  expect(reading.most).toBe(100);
});
