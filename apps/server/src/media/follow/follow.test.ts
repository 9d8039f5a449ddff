import { once } from "node:events";
import { createServer, IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ClusterSeal, ClusterServer, type NodePlace, OtherNodes } from "../../platform/cluster/index.ts";
import { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { Listener } from "../../platform/listener.ts";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { openMediaMemory } from "../memory-pool.ts";
import { openTimeline } from "../session-timeline.ts";
import { NO_LADDER } from "../testing/fake-gates.ts";
import { MediaRig } from "../testing/media-rig.ts";
import { AUDIO, syntheticSource, VIDEO } from "../testing/synthetic-source.ts";
import { FollowedSession } from "./followed-session.ts";
import { FollowedSessions } from "./followed-sessions.ts";
import { parseWindowAddress, writePlaces } from "./window-address.ts";
import { windowFrame, windowReader } from "./window-messages.ts";
import { type FollowableSession, WindowSender } from "./window-sender.ts";
import { WindowServer } from "./window-server.ts";

const LIVE = "/hls/playstream1";

let owner: MediaRig;
let asked: MediaRig;
let others: OtherNodes;
let server: ClusterServer;
/** Requests that the owner answered in place of the other node. */
let forwarded: string[];
/** Where the owner is. */
let ownPlace: NodePlace;
/** The nodes that count viewers, as far as the other node knows. */
let serving: readonly NodePlace[];
/** What it told of those that the owner counts. */
let toldViewers: string[];
const clock = new ManualClock(Date.UTC(2030, 0, 1));

beforeEach(async () => {
  forwarded = [];
  serving = [];
  toldViewers = [];
  owner = await MediaRig.open();
  const sealOf = async (id: string) => {
    const seal = new ClusterSeal({ clock, nodeId: () => id, readKeys: async () => [Buffer.alloc(32, 1)] });
    await seal.open();
    return seal;
  };
  const listener = new Listener("cluster", "127.0.0.1", 0);
  const proxies = new TrustedProxies([]);
  server = await ClusterServer.open({ listener, seal: await sealOf("owner"), proxies, clock, log: silentLog });
  server.serve({
    forwarded(req, res) {
      forwarded.push(req.url ?? "");
      res.writeHead(404, { "content-length": "0" }).end();
    },
    live: (url, res) => owner.plane.tellWindow(url, res),
    moved: (told, res) => owner.plane.handOver(told, res),
    sent: (told, res) => owner.plane.countSent(told, res),
    viewers(told, res) {
      toldViewers.push(told);
      owner.plane.countViewers(told, res);
    },
  });
  const lookUp = { findAddress: async () => null, findMedia: async () => serving };
  const settings = { nodeId: () => "asked", address: () => "127.0.0.1:9", ...lookUp, proxies, clock, log: silentLog };
  others = new OtherNodes({ ...settings, seal: await sealOf("asked") });
  ownPlace = { nodeId: "node-a", address: `127.0.0.1:${listener.port}` };
  others.moved("stream-1", ownPlace);
  asked = await MediaRig.open(NO_LADDER.admission, others);
});
afterEach(async () => {
  await asked[Symbol.asyncDispose]();
  others.close();
  server.server.closeAllConnections();
  await server.close();
  await owner[Symbol.asyncDispose]();
});

test("a copy has the names and bytes of its owner, and grows with it", async () => {
  const { publication } = owner.publish();
  await owner.send(publication, { seconds: 7 });
  const source = await asked.sourceOf(`${LIVE}/index.m3u8`);
  expect(await asked.text(`${LIVE}/index.m3u8`)).toBe(await owner.text(`${LIVE}/index.m3u8`));
  const listAt = (rig: MediaRig, name = "source") => rig.text(`${source.replace(/source$/, name)}/index.m3u8`);
  for (const name of ["source", "audio"]) expect(await listAt(asked, name)).toBe(await listAt(owner, name));
  const list = await listAt(owner);
  const files = [...list.matchAll(/(?:URI=")?((?:init-)?[\w.]+\.(?:m4s|mp4))/g)].map(([, file]) => file);
  expect(files.length).toBeGreaterThan(8);
  const hint = /PRELOAD-HINT:TYPE=PART,URI="(.*?)"/.exec(list)?.[1];
  for (const file of files) {
    if (file !== hint) expect(await asked.bytes(`${source}/${file}`)).toEqual(await owner.bytes(`${source}/${file}`));
  }
  const [, msn] = /EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(list) ?? [];
  const waiting = asked.text(`${source}/index.m3u8?_HLS_msn=${Number(msn) + 4}&_HLS_part=1`);
  const part = asked.fetch(`${source}/${hint}`);
  await owner.send(publication, { seconds: 7, clockAt: 7 });
  expect((await part).status).toBe(200);
  expect(await waiting).toContain("#EXT-X-PART:");
  await expect.poll(async () => (await listAt(asked)) === (await listAt(owner))).toBe(true);
  publication.end("clean-stop", "FCUnpublish");
  await expect.poll(() => listAt(asked)).toContain("#EXT-X-ENDLIST");
  expect(forwarded).toEqual([]);
});

test("what a copy does not have is asked of the owner: lists that go back, and files that left the window", async () => {
  const { publication } = owner.publish();
  await owner.send(publication, { seconds: 5 });
  const source = await asked.sourceOf(`${LIVE}/index.m3u8`);
  for (const path of [
    `${LIVE}/index.m3u8?dvr=1`,
    `${source}/dvr.m3u8`,
    `${source}/d1.m4s`,
    `${source}/9999.m4s`,
    `${LIVE}/source/latest.jpg`,
  ])
    expect((await asked.fetch(path)).status).toBe(404);
  expect(forwarded).toHaveLength(5);
});

test("the viewer of a copy is counted where the copy is, and a gate is asked there", async () => {
  const { publication } = owner.publish();
  await owner.send(publication, { seconds: 5 });
  asked.playbackGate.policy = "jwt";
  expect((await asked.fetch(`${LIVE}/index.m3u8`)).status).toBe(401);
  const source = await asked.sourceOf(`${LIVE}/index.m3u8?jwt=good`);
  expect((await asked.fetch(`${source}/index.m3u8`)).status).toBe(200);
  for (const rig of [owner, asked]) rig.clock.advance(10_000);
  const begun = (rig: MediaRig) => rig.facts.viewerCounts.reduce((sum, count) => sum + count.begun, 0);
  expect([begun(owner), begun(asked)]).toEqual([0, 1]);
});

test("a player that asks two nodes is one viewer, and is counted where it asks while the other node is away", async () => {
  const { publication } = owner.publish();
  await owner.send(publication, { seconds: 5 });
  // The owner's is the hash that counts.
  serving = [ownPlace, { nodeId: "asked", address: "127.0.0.1:9" }];
  const source = await asked.sourceOf(`${LIVE}/index.m3u8`);
  for (let round = 1; round <= 4; round++) {
    for (const rig of [asked, owner]) {
      await rig.fetch(`${source}/index.m3u8`);
      rig.clock.advance(5_000);
      await rig.fetch(`${source}/index.m3u8`);
      rig.clock.advance(5_000);
      await expect.poll(() => toldViewers).toHaveLength(round);
    }
  }
  const begun = ({ facts }: MediaRig) => facts.viewerCounts.reduce((sum, count) => sum + count.begun, 0);
  expect([begun(owner), owner.facts.viewerCounts.at(-1)?.now]).toEqual([1, 1]);
  expect(asked.facts.viewerCounts).toEqual([]);
  server.server.closeAllConnections();
  await server.close();
  await asked.fetch(`${source}/index.m3u8`);
  asked.clock.advance(10_000);
  await expect.poll(() => asked.facts.viewerCounts.at(-1)?.now).toBe(1);
});

test("bytes to viewers of a copy are in the figures of its process, and in those of the session at its owner", async () => {
  const { publication } = owner.publish();
  await owner.send(publication, { seconds: 7 });
  const source = await asked.sourceOf(`${LIVE}/index.m3u8`);
  const { bytesSent: before } = owner.plane.figures;
  const list = await asked.text(`${source}/index.m3u8`);
  for (const [file] of list.matchAll(/^\d+\.m4s$/gm)) await asked.bytes(`${source}/${file}`);
  const { bytesSent, sent } = asked.plane.figures;
  expect(bytesSent).toBeGreaterThan(10_000);
  expect([sent.playlist, sent.segment > 1]).toEqual([1, true]);
  for (let passed = 0; passed < 5_250; passed += 250) asked.clock.advance(250);
  const rates = () => owner.facts.of("source-metrics").map(({ outgoingRate }) => outgoingRate);
  const known = rates().length;
  await expect
    .poll(async () => {
      await owner.send(publication, { seconds: 5, clockAt: 7 + rates().length * 5 });
      return Math.max(0, ...rates().slice(known));
    })
    .toBeGreaterThan(bytesSent / 20);
  // A process counts its own.
  expect(owner.plane.figures.bytesSent).toBe(before);
  // They are told once.
  for (let passed = 0; passed < 10_000; passed += 250) asked.clock.advance(250);
  expect(asked.plane.figures.bytesSent).toBe(bytesSent);
});

test("bytes to viewers of several copies are told their owner at once, and an owner of an earlier build of each session", async () => {
  const told: unknown[] = [];
  let isEarlier = false;
  const copies = new FollowedSessions({
    clock,
    log: silentLog,
    memory: openMediaMemory().parts,
    takeLeft: () => null,
    others: {
      placeOf: () => ownPlace,
      read: (_to, path, take, signal) => {
        const playbackId = path.split("/").at(-1) ?? "";
        take(Buffer.from(windowFrame({ kind: "session", sessionId: `session of ${playbackId}`, playbackId })));
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut"))));
      },
      tell: async (_to, _path, sent) => {
        told.push(sent);
        const message = new IncomingMessage(new Socket());
        message.statusCode = isEarlier && Array.isArray(sent) ? 404 : 204;
        return message;
      },
    },
  });
  for (const name of ["one", "two"]) void copies.find(name, `stream ${name}`, ownPlace);
  const watch = async (bytes: number) => {
    for (const name of ["one", "two"]) Object.assign(copies.sessionOf(name)?.sent ?? {}, { bytes });
    for (let passed = 0; passed < 5_000; passed += 250) clock.advance(250);
    await settled();
  };
  const each = (bytes: number) => ["one", "two"].map((name) => ({ sessionId: `session of ${name}`, bytes }));
  await watch(100);
  isEarlier = true;
  await watch(130);
  // Nothing that the owner does not know.
  await watch(130);
  expect(told).toEqual([each(100), each(30), ...each(30)]);
  copies.close();
});

test("while the owner is away the copy stays; one that nobody watches for 30 s is given up with its memory", async () => {
  const { publication } = owner.publish();
  await owner.send(publication, { seconds: 5 });
  const source = await asked.sourceOf(`${LIVE}/index.m3u8`);
  const list = await asked.text(`${source}/index.m3u8`);
  server.server.closeAllConnections();
  await server.close();
  expect(await asked.text(`${source}/index.m3u8`)).toBe(list);
  expect(asked.plane.figures.pages.pagesInUse).toBeGreaterThan(0);
  for (let passed = 0; passed < 40_000; passed += 250) asked.clock.advance(250);
  expect(asked.plane.figures.pages.pagesInUse).toBe(0);
});

/** What a node that reads slowly was sent. */
class Reader extends Writable {
  readonly messages: ReturnType<ReturnType<typeof windowReader>> = [];
  readonly #read = windowReader();
  #go: (() => void) | null = null;
  isStopped = false;

  constructor() {
    super({ highWaterMark: 64 * 1024 });
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.messages.push(...this.#read(bytes));
    if (this.isStopped) this.#go = done;
    else done();
  }

  goOn(): void {
    this.isStopped = false;
    this.#go?.();
  }

  get segments(): number[] {
    return this.messages.flatMap((message) =>
      message.kind === "begin" && message.of === "source" ? [message.place.msn] : [],
    );
  }
}

/** A session of this process, and its source. */
function session() {
  const clock = new ManualClock();
  const memory = openMediaMemory().parts;
  const { timeline, outputs } = openTimeline({
    clock,
    memory,
    resume: null,
    lastTargetDuration: null,
    lastSound: null,
    hasSlate: false,
    onSegment: () => {},
    onUnstable: () => {},
    ladder: null,
  });
  const state = { isLeft: false, isFinished: false, isWhole: false };
  const rungs = Promise.withResolvers<void>();
  const followable: FollowableSession = {
    sessionId: "session-1",
    playbackId: "playstream1",
    outputs,
    get isLeft() {
      return state.isLeft;
    },
    get isWhole() {
      return state.isWhole;
    },
    whole: () => rungs.promise,
    get isFinished() {
      return state.isFinished;
    },
  };
  let sent = 0;
  /** Plays the source until this second. */
  const until = (seconds: number) => {
    if (sent === 0) for (const track of [VIDEO, AUDIO]) timeline.track(track);
    const arrivals = syntheticSource({ seconds, frameBytes: 4_000 }).filter(({ at }) => at >= sent * 1000);
    for (const { at, packet } of arrivals) {
      clock.advance(Math.max(0, at - clock.monotonic()));
      timeline.packet(packet);
    }
    sent = seconds;
  };
  /** Its rungs have all that they get. */
  const complete = () => {
    state.isWhole = true;
    rungs.resolve();
  };
  return { clock, memory, outputs, followable, state, until, complete };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a node that reads nothing costs its owner a segment, and has no gap after 5 s; after 40 s it goes on with the window", async () => {
  const { followable, until } = session();
  until(6);
  const reader = new Reader();
  new WindowSender(followable, reader, new Map());
  await settled();
  reader.isStopped = true;
  for (let seconds = 7; seconds <= 11; seconds++) {
    until(seconds);
    await settled();
    expect(reader.writableLength).toBeLessThan(1_000_000);
  }
  reader.goOn();
  await expect.poll(() => reader.segments.at(-1)).toBe(followable.outputs.renditions[0]?.newestPart?.msn);
  const first = reader.segments[0] ?? 0;
  expect(reader.segments).toEqual(reader.segments.map((_, index) => first + index));
  const parts = reader.messages.filter((message) => message.kind === "part" && message.of === "source").length;

  reader.isStopped = true;
  for (let seconds = 12; seconds <= 52; seconds++) {
    until(seconds);
    await settled();
    expect(reader.writableLength).toBeLessThan(1_000_000);
  }
  const before = reader.segments.at(-1) ?? 0;
  reader.goOn();
  await expect.poll(() => reader.segments.at(-1)).toBe(followable.outputs.renditions[0]?.newestPart?.msn);
  const next = reader.segments.find((msn) => msn > before) ?? 0;
  expect(next).toBeGreaterThan(before + 1);
  expect(parts).toBeGreaterThan(20);
});

test("a segment is told with its first part", async () => {
  const { followable, until } = session();
  const reader = new Reader();
  until(4);
  new WindowSender(followable, reader, new Map());
  const last = new Set<string>();
  for (let seconds = 4.05; seconds < 14; seconds += 0.05) {
    until(seconds);
    await settled();
    for (const of of ["source", "audio"])
      last.add(reader.messages.findLast((message) => "of" in message && message.of === of)?.kind ?? "");
  }
  expect(last).toEqual(new Set(["part", "expect"]));
});

test("a node that comes back is told what it lacks, and one whose stream moved has to ask elsewhere", async () => {
  const { clock, followable, state, until } = session();
  until(9);
  const first = new Reader();
  new WindowSender(followable, first, new Map());
  await settled();
  const copy = new FollowedSession(
    { kind: "session", sessionId: "session-1", playbackId: "p" },
    openMediaMemory().parts,
    clock,
  );
  // Viewers who come from the owner see no numbers fall: they are answered when the copy has all that it lists.
  for (const message of first.messages) {
    copy.take(message);
    if (copy.isReady) break;
  }
  expect(copy.isReady).toBe(true);
  for (const { name } of followable.outputs.renditions)
    expect(copy.playlist(name)?.text()).toBe(followable.outputs.playlist(name)?.text());
  first.destroy();
  until(10);
  const second = new Reader();
  const sender = new WindowSender(followable, second, copy.places);
  await settled();
  for (const message of second.messages) copy.take(message);
  for (const { name } of followable.outputs.renditions)
    expect(copy.playlist(name)?.text()).toBe(followable.outputs.playlist(name)?.text());
  expect(second.segments.length).toBeLessThan(2);

  state.isLeft = state.isWhole = true;
  sender.beat();
  expect(second.messages.at(-1)).toEqual({ kind: "moved" });
  expect(second.writableEnded).toBe(true);

  // The next owner goes on behind a gap in the numbers; the segment that the first did not complete is nobody's.
  const { open } = copy.playlist("source")?.rendition ?? {};
  const init = open?.init?.name ?? "";
  const place = { timescale: 90_000, startTicks: 0, programDateTimeMs: 0, discontinuity: true, init };
  copy.take({ kind: "begin", of: "source", place: { ...place, msn: 100 } });
  expect(copy.playlist("source")?.rendition.segment(open?.msn ?? 0)).toBe(undefined);
  expect(copy.playlist("source")?.rendition.open?.msn).toBe(100);
  expect(() => copy.take({ kind: "begin", of: "source", place: { ...place, msn: 101, init: "no" } })).toThrow(
    RangeError,
  );
  copy.dispose();
});

test("the next owner of a session has its end as soon as its ladder has all, and not with the next beat", async () => {
  const { followable, state, until, complete } = session();
  until(9);
  state.isLeft = true;
  const reader = new Reader();
  new WindowSender(followable, reader, new Map());
  await settled();
  expect([reader.messages.at(-1)?.kind, reader.writableEnded]).toEqual(["whole", false]);
  complete();
  await settled();
  await settled();
  expect([reader.messages.at(-1)?.kind, reader.writableEnded]).toEqual(["moved", true]);
});

test("a socket that is destroyed while it takes a part keeps no memory", async () => {
  const { clock, memory, outputs, followable, until } = session();
  until(7);
  const answers: ServerResponse[] = [];
  const windows = new WindowServer({ clock, sessions: { sessionOf: () => followable } });
  const server = createServer((_req, res) => {
    answers.push(res);
    windows.handle("/live/playstream1", res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  for (let round = 1; round <= 3; round++) {
    const reader = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
    reader.write("GET / HTTP/1.0\r\n\r\n");
    await once(reader, "data");
    const closed = once(answers.at(-1) as ServerResponse, "close");
    answers.at(-1)?.socket?.destroy();
    until(7 + round);
    await closed;
  }
  await settled();
  outputs.end();
  outputs.dispose();
  server.close();
  expect(memory.pagesInUse).toBe(0);
});

test("places go through an address, and nonsense is no place", () => {
  const places = new Map([
    ["source", { msn: 12, parts: 3, isComplete: false }],
    ["audio", { msn: 11, parts: 0, isComplete: true }],
  ]);
  const query = writePlaces({ places });
  expect(query).toBe("source:12.3,audio:11");
  expect(parseWindowAddress(`/live/abcd?from=${query}`)).toEqual({ playbackId: "abcd", from: places });
  expect(parseWindowAddress("/live/abcd?from=source,:1,a:b")?.from).toEqual(new Map());
  for (const url of ["/live/", "/live/abcd/x", "/live/abcd?from=", "/live/../x"])
    expect(parseWindowAddress(url)).toBe(null);
});

test("a message of a kind that is not known is skipped", () => {
  const read = windowReader();
  const unknown = windowFrame({ kind: "later" } as never);
  expect(read(Buffer.concat([unknown, windowFrame({ kind: "beat" })])).map(({ kind }) => kind)).toEqual([
    "later",
    "beat",
  ]);
});
