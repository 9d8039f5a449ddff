import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Audiences } from "../../../platform/audience/index.ts";
import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { silentLog } from "../../../platform/log.ts";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { LocalObjectStore } from "../../../platform/storage/local-object-store.ts";
import { makeTestFolder } from "../../../platform/test-folder-rig.ts";
import type { WindowRendition, WindowSegment } from "../../packaging/window-rendition.ts";
import { Sent } from "../../sent.ts";
import { FakeCatalogue } from "../../testing/fake-catalogue.ts";
import { FactLog } from "../../testing/fake-gates.ts";
import { FakePlaybackGate } from "../../testing/fake-playback-gate.ts";
import { FakeChildren } from "../../testing/fake-transcoder.ts";
import { VIDEO } from "../../testing/synthetic-source.ts";
import type { FoundSource } from "../live-source.ts";
import { Playback } from "../playback.ts";

const INIT = { name: "init-00000001.mp4", bytes: Buffer.from("init"), track: VIDEO, timescale: 90_000 };

/** As another process would hand it over: plain values, and nothing of this process's packaging. */
function segmentOf(msn: number, ...texts: string[]): WindowSegment {
  const views = texts.map((text) => Buffer.from(text));
  const timing = { durationTicks: 30_000, lateTicks: 0, frames: 10, isIndependent: true };
  return {
    ...{ msn, timescale: 90_000, startTicks: 0, programDateTimeMs: 0, discontinuity: false, init: INIT },
    ...{ durationTicks: 180_000, seconds: 2, frames: 60, bytes: Buffer.concat(views).byteLength, views },
    parts: views.map((view) => ({ ...timing, views: [view], byteLength: view.byteLength })),
    retain: () => void shares++,
    release: () => void shares--,
  };
}

let shares: number;
let changed: Set<() => void>;
let segments: WindowSegment[];
let rendition: WindowRendition;
let sent: Sent;
/** How a node finds the session. */
let find: () => FoundSource;
let playback: Playback;
let server: Server;

beforeEach(async () => {
  shares = 0;
  changed = new Set();
  segments = [segmentOf(7, "one", "two")];
  rendition = {
    ...{ name: "source", targetDuration: 2, open: null, firstMsn: 7, hasEnded: false, peakBps: 800, frameRate: 30 },
    get listed() {
      return segments;
    },
    get newestPart() {
      return { msn: segments.at(-1)?.msn ?? 0, part: 1 };
    },
    nextPart: null,
    segment: (msn) => segments.find((segment) => segment.msn === msn),
    onChange(listener) {
      changed.add(listener);
      return () => changed.delete(listener);
    },
  };
  sent = new Sent();
  const outputs = {
    listed: [{ rendition, track: VIDEO }],
    playlist: (name: string) =>
      name === "source" ? { rendition, text: () => `list to ${segments.at(-1)?.msn}` } : undefined,
  };
  const state = { isFinished: false, isLeft: false };
  const source = { sessionId: "session-1", playbackId: "playstream1", ...state, outputs, sent, dvr: null };
  find = () => new Promise((resolve) => setImmediate(() => resolve(source)));
  const facts = new FactLog();
  playback = new Playback({
    clock: new ManualClock(),
    log: silentLog,
    live: { session: () => find(), sessionOf: () => find() },
    playbackGate: new FakePlaybackGate(),
    catalogue: new FakeCatalogue(facts),
    eventSink: facts,
    store: new LocalObjectStore(join(makeTestFolder("remote"), "objects")),
    viewerSecret: Buffer.alloc(32),
    proxies: new TrustedProxies([]),
    viewersPerClient: 10,
    audiences: new Audiences(null),
    maxReads: 1,
    children: new FakeChildren(),
    others: null,
    copies: null,
  });
  server = createServer((req, res) => playback.handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  playback.close();
  server.closeAllConnections();
  server.close();
});

async function get(file: string): Promise<[status: number, body: string]> {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/hls/playstream1/${file}`);
  return [response.status, await response.text()];
}

test("a session that another process has, found a moment later, is served as one of this process is", async () => {
  const [status, list] = await get("index.m3u8");
  expect([status, list]).toEqual([200, expect.stringContaining("session-1/source/index.m3u8")]);
  expect(await get("s/-/session-1/source/index.m3u8")).toEqual([200, "list to 7"]);
  expect(await get("s/-/session-1/source/init-00000001.mp4")).toEqual([200, "init"]);
  expect(await get("s/-/session-1/source/7.1.m4s")).toEqual([200, "two"]);
  expect(await get("s/-/session-1/source/7.m4s")).toEqual([200, "onetwo"]);
  expect((await get("s/-/session-1/audio/index.m3u8"))[0]).toBe(404);
  expect([sent.bytes, sent.responses]).toEqual([18, { playlist: 1, part: 1, segment: 1 }]);
  await expect.poll(() => shares).toBe(0);
});

test("a blocked list waits for what the other process sends next", async () => {
  const answer = get("s/-/session-1/source/index.m3u8?_HLS_msn=8");
  await expect.poll(() => changed.size).toBe(1);
  segments = [...segments, segmentOf(8, "three")];
  for (const listener of changed) listener();
  expect(await answer).toEqual([200, "list to 8"]);
  expect(changed.size).toBe(0);
});

test("a session that no process has is offline, and one that cannot be asked about fails that request alone", async () => {
  find = async () => undefined;
  expect(await get("index.m3u8")).toEqual([200, expect.stringContaining("Stream is offline")]);
  expect((await get("s/-/session-1/source/7.m4s"))[0]).toBe(404);
  find = () => Promise.reject(new Error("the owner does not answer"));
  expect((await get("index.m3u8"))[0]).toBe(503);
});
