import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { Slices } from "../../platform/slices.ts";
import type { PublishGrant } from "../../ports/index.ts";
import { openMediaMemory } from "../memory-pool.ts";
import { Payload, type Publication } from "../packet.ts";
import { FactLog, FakePublisher, FakePublishGate, NO_LADDER, NO_TARGETS, ORCHESTRATOR } from "../testing/fake-gates.ts";
import { type Arrival, AUDIO, type SourceShape, syntheticSource, VIDEO } from "../testing/synthetic-source.ts";
import { Timeline } from "../timeline/timeline.ts";
import { Hub } from "./hub.ts";
import type { LiveSession } from "./live-session.ts";

const WINDOW_MS = 30_000;
const LATE_TICKS = 90_000 * 2;

let clock: ManualClock;
let gate: FakePublishGate;
let log: FactLog;
let hub: Hub;

beforeEach(() => {
  clock = new ManualClock();
  gate = new FakePublishGate();
  log = new FactLog();
  hub = new Hub({
    takeover: null,
    makeSlate: async () => null,
    clock,
    log: silentLog,
    publishGate: gate,
    slices: new Slices(clock),
    eventSink: log,
    memory: openMediaMemory(),
    reconnectWindowMs: WINDOW_MS,
    ladder: NO_LADDER,
    restream: NO_TARGETS,
    orchestrator: ORCHESTRATOR,
    recordingRoom: () => ({ spoolFreeBytes: 2 ** 40, storeFreeBytes: 2 ** 40 }),
    createDvr: () => null,
    createRecorder: () => {
      throw new Error("not recorded here");
    },
  });
});

interface Broadcast {
  readonly grant: PublishGrant;
  readonly publisher: FakePublisher;
  readonly publication: Publication;
}

function publish(): Broadcast {
  const publisher = new FakePublisher();
  const grant = gate.grant();
  return { grant, publisher, publication: hub.open(grant, publisher) };
}

/** Send packets in their own time; the session begins in the database after the first. */
async function send({ publication }: Broadcast, shape: SourceShape): Promise<void> {
  publication.track(VIDEO);
  publication.track(AUDIO);
  let at = 0;
  for (const arrival of syntheticSource(shape) satisfies Arrival[]) {
    clock.advance(arrival.at - at);
    at = arrival.at;
    publication.packet(arrival.packet);
    if (arrival.at < 100) await settled();
  }
}

/** A publisher that begins has a turn of the event loop of its own. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate();
}

/** Sessions are not begun in the database until the returned function is called. */
function holdBegin(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.hold = promise;
  return resolve;
}

/** A publisher whose session has begun, and has none of its packets yet. */
async function publishEarly(seconds: number): Promise<{ readonly broadcast: Broadcast; readonly live: LiveSession }> {
  const open = holdBegin();
  const broadcast = publish();
  await send(broadcast, { seconds });
  open();
  while (!session()) await Promise.resolve();
  return { broadcast, live: session() as LiveSession };
}

const ended = () => log.of("source-ended").map(({ why, epoch }) => [why, epoch]);
const session = () => hub.sessionOf("playstream1");
const lastMsn = () => session()?.outputs.renditions[0]?.newestPart?.msn;

describe("a publisher", () => {
  test("that never sends a keyframe makes no session", async () => {
    const { publication } = publish();
    publication.track(VIDEO);
    publication.packet({
      trackId: 0,
      kind: "video",
      dts: 0,
      pts: 0,
      isIndependent: false,
      data: new Payload(new Uint8Array(1)),
    });
    publication.end("source-lost", "socket closed");
    await settled();
    expect(session()).toBeUndefined();
    expect(log.facts).toEqual([]);
  });

  test("loses nothing while its session is being begun in the database", async () => {
    const open = holdBegin();
    const broadcast = publish();
    await send(broadcast, { seconds: 1 });
    expect(session()).toBeUndefined();
    open();
    await settled();
    expect(session()?.outputs.renditions[0]?.open?.parts).toHaveLength(2);
  });

  test("that sends packets of a byte each while its session is being begun has to wait, and is let go where it does not", async () => {
    holdBegin();
    const { publication, publisher } = publish();
    publication.track(VIDEO);
    const data = new Payload(new Uint8Array(1));
    const send = (count: number) => {
      for (let dts = 0; dts < count; dts++)
        publication.packet({ trackId: 0, kind: "video", dts, pts: dts, isIndependent: true, data });
    };
    send(10_000);
    expect([publication.waitMs, publisher.closedWith]).toEqual([0, null]);
    send(10_000);
    expect([publication.waitMs, publisher.closedWith]).toEqual([expect.toSatisfy((ms: number) => ms > 0), null]);
    send(60_000);
    expect(publisher.closedWith).toContain("faster than the stream can begin");
  });

  test.each([
    ["a node that drains leaves it to another node", () => hub.drain(true), ["source-lost", 1]],
    ["a node that drains alone ends it", () => hub.drain(false), ["clean-stop", 1]],
    ["a new key waits for its encoder", () => hub.stop("stream-1", "key-rotated"), ["source-lost", 1]],
    ["a stream that is deleted ends it", () => hub.stop("stream-1", "deleted"), ["clean-stop", 1]],
    ["another node owns the stream", () => hub.moved({ streamId: "stream-1", epoch: 2 }), ["source-lost", 1]],
  ] as const)("whose session is being begun is let go: %s", async (_what, letGo, end) => {
    const open = holdBegin();
    const broadcast = publish();
    await send(broadcast, { seconds: 0.1 });
    const done = letGo();
    open();
    await done;
    await settled();
    expect(broadcast.publisher.closedWith).not.toBe(null);
    expect(hub.held()).toEqual([]);
    expect(ended()).toEqual([end]);
  });

  test("whose early packets take long gives others a turn after each, and what comes meanwhile follows them", async () => {
    const { broadcast, live } = await publishEarly(1);
    const [turns, sent]: [number[], number[]] = [[], []];
    let turn = 0;
    const packet = live.packet.bind(live);
    vi.spyOn(live, "packet").mockImplementation((next) => {
      packet(next);
      turns.push(turn);
      sent.push(next.dts);
      // Longer than a slice.
      clock.advance(6);
      if (sent.length === 3) broadcast.publication.packet({ ...next, dts: LATE_TICKS, pts: LATE_TICKS });
    });
    while (sent.at(-1) !== LATE_TICKS) {
      await setImmediate();
      turn++;
    }
    expect(sent.length).toBeGreaterThan(30);
    expect(new Set(turns).size).toBe(turns.length);
  });

  test("whose session ends with an early packet sends none of the others, and is told", async () => {
    const { broadcast, live } = await publishEarly(1);
    const packet = vi.spyOn(live, "packet").mockImplementation(() => live.fail(new Error("not processed")));
    await settled();
    await settled();
    expect(packet).toHaveBeenCalledTimes(1);
    expect(broadcast.publisher.closedWith).toBe("The server could not process this stream. Its log says why.");
    expect(ended()).toEqual([["clean-stop", 1]]);
  });

  test("that repeats its configuration without end while its session is being begun is refused", async () => {
    holdBegin();
    const broadcast = publish();
    await send(broadcast, { seconds: 0.1 });
    const config = Buffer.alloc(64 * 1024);
    for (let n = 0; n < 520; n++) broadcast.publication.track({ ...VIDEO, config });
    expect(broadcast.publisher.closedWith).toContain("faster than the stream can begin");
  });

  test("that stops in the turn before its session gets its first packets has them in it", async () => {
    const { broadcast, live } = await publishEarly(3);
    expect(live.bytesReceived).toBe(0);
    broadcast.publication.end("clean-stop", "FCUnpublish");
    await settled();
    expect(session()?.isFinished).toBe(true);
    expect(log.of("segment-closed").length).toBe(2);
  });

  test("that stops on purpose ends the session at once, with the end of the list", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 3 });
    broadcast.publication.end("clean-stop", "FCUnpublish");
    await settled();
    expect(session()?.isFinished).toBe(true);
    expect(session()?.outputs.playlist("source")?.text()).toContain("#EXT-X-ENDLIST");
    expect(ended()).toEqual([["clean-stop", 1]]);
    expect(log.of("segment-closed").length).toBe(2);
  });

  test("whose media cannot be processed ends its own session, and no other", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 3 });
    const broken = session();
    vi.spyOn(broken?.timeline ?? expect.fail(), "tick").mockImplementation(() => {
      throw new Error("a sample that cannot be written");
    });
    clock.advance(50);
    await settled();
    expect(broken?.isFinished).toBe(true);
    expect(broken?.outputs.playlist("source")?.text()).toContain("#EXT-X-ENDLIST");
    expect(broadcast.publisher.closedWith).toMatch(/could not process this stream/);
    expect(ended()).toEqual([["clean-stop", 1]]);
  });

  test("whose first media cannot be processed is closed with a sentence", async () => {
    const { publication, publisher } = publish();
    publication.track(VIDEO);
    const broken = vi.spyOn(Timeline.prototype, "packet").mockImplementation(() => {
      throw new Error("a sample that cannot be written");
    });
    for (const { packet } of syntheticSource({ seconds: 0.2 })) publication.packet(packet);
    await settled();
    broken.mockRestore();
    expect(publisher.closedWith).toMatch(/could not process this stream/);
    expect(ended()).toEqual([["clean-stop", 1]]);
  });

  test("lets its publisher wait while it is being begun, and keeps no more than 8 MiB and a packet of it", async () => {
    const begin = holdBegin();
    const { publication, publisher } = publish();
    publication.track(VIDEO);
    const send = (frame: number) =>
      publication.packet({
        trackId: 0,
        kind: "video",
        dts: frame,
        pts: frame,
        isIndependent: frame === 0,
        data: new Payload(new Uint8Array(1024 * 1024)),
      });
    for (let frame = 0; frame < 7; frame++) send(frame * 3000);
    expect(publication.waitMs).toBe(0);
    send(7 * 3000);
    expect(publication.waitMs).toBeGreaterThan(0);
    begin();
    await settled();
    expect(publication.waitMs).toBe(0);
    expect(session()?.bytesReceived).toBe(8 * 1024 * 1024);
    expect(publisher.closedWith).toBeNull();
  });

  test("that a sender who does not wait floods before it is begun is refused with a sentence", async () => {
    gate.hold = new Promise(() => {});
    const { publication, publisher } = publish();
    publication.track(VIDEO);
    for (let frame = 0; frame < 40; frame++) {
      const times = { dts: frame * 3000, pts: frame * 3000 };
      publication.packet({
        trackId: 0,
        kind: "video",
        ...times,
        isIndependent: true,
        data: new Payload(new Uint8Array(1024 * 1024)),
      });
    }
    expect(publisher.closedWith).toMatch(/-re/);
  });

  test("with a decoder configuration of more than 64 KiB is refused with its size, before the session and within it", async () => {
    const huge = { ...VIDEO, config: new Uint8Array(11 * 1024 * 1024) };
    const first = publish();
    first.publication.track(huge);
    expect(first.publisher.closedWith).toBe(
      "The decoder configuration of the video is too large: 11264 KiB, of at most 64 KiB.",
    );
    const second = publish();
    await send(second, { seconds: 3 });
    second.publication.track(huge);
    expect(second.publisher.closedWith).toContain("too large");
    expect(session()).toMatchObject({ isLive: false, isFinished: false });
    await settled();
    expect(ended()).toEqual([["source-lost", 2]]);
  });

  test("that is refused by the gate is told so", async () => {
    gate.nextStart = null;
    const broadcast = publish();
    await send(broadcast, { seconds: 0.1 });
    expect(broadcast.publisher.closedWith).toMatch(/taken over|no longer/);
  });
});

describe("a lost source", () => {
  test("leaves the playlist up, and the next publisher goes on in the same session, without a discontinuity where its tracks are the same", async () => {
    const first = publish();
    await send(first, { seconds: 3 });
    const { sessionId = "" } = session() ?? {};
    first.publication.end("source-lost", "socket closed");
    await settled();
    expect(session()?.outputs.playlist("source")?.text()).not.toContain("#EXT-X-ENDLIST");
    clock.advance(10_000);
    gate.nextStart = { sessionId };
    await send(publish(), { seconds: 3, clockAt: 500 });
    expect(session()?.sessionId).toBe(sessionId);
    const discontinuities = session()?.outputs.renditions.map(({ listed }) =>
      listed.filter((s) => s.discontinuity).map(({ msn }) => msn),
    );
    expect(discontinuities).toEqual([[], []]);
    expect(lastMsn()).toBe(4);
  });

  test("ends the session when the window is over", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 3 });
    broadcast.publication.end("source-lost", "socket closed");
    clock.advance(WINDOW_MS - 1);
    expect(session()?.isFinished).toBe(false);
    clock.advance(1);
    expect(session()?.isFinished).toBe(true);
    clock.advance(60_000);
    expect(session()).toBeUndefined();
  });

  test("is one that is silent for 5 s, and its packets bring it back", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 2 });
    clock.advance(5100);
    await settled();
    expect(ended()).toEqual([["source-lost", 1]]);
    await send(broadcast, { seconds: 1, clockAt: 7.1 });
    expect(log.of("source-back").length).toBe(1);
    expect(lastMsn()).toBe(2);
    expect(broadcast.publisher.closedWith).toBeNull();
  });

  test("is one whose clock stands still: it is told why, its place is free and the window runs", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 2 });
    for (let frame = 0; frame < 200; frame++) {
      clock.advance(30);
      const times = { dts: 2 * 90_000, pts: 2 * 90_000 };
      broadcast.publication.packet({
        trackId: 0,
        kind: "video",
        ...times,
        isIndependent: false,
        data: new Payload(new Uint8Array(1)),
      });
    }
    await settled();
    expect(broadcast.publisher.closedWith).toMatch(/timestamps stand still/);
    expect(hub.publisherCount).toBe(0);
    expect(ended()).toEqual([["source-lost", 1]]);
    expect(session()?.isFinished).toBe(false);
  });

  test("that stays silent is closed with a reason when the window is over", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 2 });
    clock.advance(5100 + WINDOW_MS);
    expect(broadcast.publisher.closedWith).toMatch(/longer than the reconnect window/);
  });
});

describe("a second publisher with the key", () => {
  test("takes over: the first is told, one session, and what the first sends later is ignored", async () => {
    const first = publish();
    await send(first, { seconds: 3 });
    gate.nextStart = { sessionId: session()?.sessionId ?? "" };
    const second = publish();
    // A connection with the key and no media changes nothing.
    expect(first.publisher.closedWith).toBeNull();
    await send(second, { seconds: 3, clockAt: 77 });
    expect(first.publisher.closedWith).toMatch(/took this stream over/);
    const before = log.facts.length;
    first.publication.packet({
      trackId: 0,
      kind: "video",
      dts: 0,
      pts: 0,
      isIndependent: true,
      data: new Payload(new Uint8Array(1)),
    });
    first.publication.end("clean-stop", "late");
    await settled();
    expect(log.facts.length).toBe(before);
    expect(session()?.isFinished).toBe(false);
    expect(lastMsn()).toBe(4);
  });

  test("and no media waits beside three more, and no further ones", async () => {
    const owner = publish();
    await send(owner, { seconds: 0.2 });
    const waiting = Array.from({ length: 6 }, () => publish());
    expect(waiting.map(({ publisher }) => publisher.closedWith !== null)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(owner.publisher.closedWith).toBeNull();
    expect(hub.publisherCount).toBe(5);
  });

  test("with an older grant loses, though the database hears of it first", async () => {
    const older = publish();
    const current = publish();
    await send(current, { seconds: 1 });
    gate.nextStart = { sessionId: session()?.sessionId ?? "" };
    await send(older, { seconds: 0.2 });
    expect(older.publisher.closedWith).toMatch(/took this stream over/);
    expect(current.publisher.closedWith).toBeNull();
    expect(session()).toMatchObject({ isLive: true, epoch: current.grant.epoch });
  });
});

describe("a session that another node has now", () => {
  const elsewhere = (epoch: number) => ({ streamId: "stream-1", sessionId: "session-1", epoch, nodeId: "other" });

  test("lets its publisher go, reports no end of the source, and its list stays open", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 3 });
    expect(hub.held()).toEqual([{ streamId: "stream-1", sessionId: "session-1", epoch: 1, isLive: true }]);
    hub.moved(elsewhere(1));
    expect(broadcast.publisher.closedWith).toBeNull();
    const viewers = { stretch: vi.fn(), cut: vi.fn(), sample: vi.fn(), pause: vi.fn(), end: vi.fn(), moved: vi.fn() };
    session()?.outputs.feed.attach(viewers, { from: "now" });
    hub.moved(elsewhere(2));
    expect(broadcast.publisher.closedWith).toMatch(/took this stream over/);
    expect([viewers.moved.mock.calls.length, viewers.end.mock.calls.length]).toEqual([1, 0]);
    clock.advance(WINDOW_MS + 1_000);
    await settled();
    expect(session()?.outputs.playlist("source")?.text()).not.toContain("#EXT-X-ENDLIST");
    expect([hub.held(), ended(), hub.figures.sessions]).toEqual([[], [], 0]);
    expect(log.of("segment-closed").map(({ epoch }) => epoch)).toEqual([1, 1]);
    clock.advance(60_000);
    expect(session()).toBeUndefined();
  });

  test.each([
    { knows: true, gives: 60, first: 60 },
    { knows: false, gives: 60, first: 60 },
    // A database that lost its last rows in a failover.
    { knows: false, gives: 2, first: 3 },
  ])(
    "and that comes back goes on at the given number, or at its own if that is later: %j",
    async ({ knows, gives, first }) => {
      const broadcast = publish();
      await send(broadcast, { seconds: 3 });
      broadcast.publication.end("source-lost", "socket closed");
      const before = session();
      if (knows) hub.moved(elsewhere(2));
      gate.grant();
      const back = publish();
      const resume = { ...(before?.timeline.position ?? expect.fail()), nextMsn: gives };
      gate.nextStart = { sessionId: "session-1", previousEpoch: 2, resume };
      await send(back, { seconds: 3, clockAt: 77 });
      expect(session()).not.toBe(before);
      expect(session()?.outputs.renditions[0]?.firstMsn).toBe(first);
      expect(before?.isLeft).toBe(true);
    },
  );

  test("as far as a node without its lease can know is not ended there at the end of the window", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 3 });
    broadcast.publication.end("source-lost", "socket closed");
    gate.isAlone = true;
    clock.advance(WINDOW_MS);
    expect(session()?.isLeft).toBe(true);
    expect(session()?.outputs.playlist("source")?.text()).not.toContain("#EXT-X-ENDLIST");
    gate.isAlone = false;
  });

  test("whose window was over in the database meanwhile lets its publisher go, who may return", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 3 });
    hub.windowOver("session-1");
    expect(broadcast.publisher.closedWith).toMatch(/could not reach its database .* reconnect/);
    expect(session()?.isFinished).toBe(true);
  });
});

describe("a stream that is stopped", () => {
  test("by terminate ends its session; viewers finish the list", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 3 });
    hub.stop("stream-1", "terminated");
    expect(broadcast.publisher.closedWith).toMatch(/terminated by its owner/);
    expect(session()?.isFinished).toBe(true);
  });

  test("for a new key goes on with its session when the broadcaster is back", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 3 });
    const before = session();
    hub.stop("stream-1", "key-rotated");
    expect(broadcast.publisher.closedWith).toMatch(/new stream key/);
    expect(before?.isFinished).toBe(false);
    gate.nextStart = { sessionId: before?.sessionId ?? "" };
    await send(publish(), { seconds: 3, clockAt: 500 });
    expect(session() === before && (lastMsn() ?? 0) > 1).toBe(true);
  });

  test("by deletion is gone at once", async () => {
    await send(publish(), { seconds: 3 });
    hub.stop("stream-1", "deleted");
    expect(session()).toBeUndefined();
  });

  test("while its session is being begun leaves none behind as live", async () => {
    const open = holdBegin();
    await send(publish(), { seconds: 0.1 });
    hub.stop("stream-1", "terminated");
    open();
    await settled();
    expect(session()).toBeUndefined();
    expect(ended()).toEqual([["clean-stop", 1]]);
  });
});

test("metrics come with the first packets and every 10 seconds", async () => {
  await send(publish(), { seconds: 21, frameBytes: 1000 });
  const metrics = log.of("source-metrics");
  expect(metrics.length).toBe(3);
  expect(metrics[2]?.ingestRate).toBeGreaterThan(30_000);
  expect(metrics[2]?.ingestRate).toBeLessThan(31_000);
  expect(metrics[2]?.mediaTimeMs).toBeGreaterThan(19_000);
});

test("metrics come at whole seconds, so that those of many sessions are written together", async () => {
  const start = clock.now();
  clock.advance(400);
  await send(publish(), { seconds: 12 });
  expect(log.of("source-metrics").map(({ at }) => Math.round(at - start))).toEqual([400, 10_000]);
});

describe("what changes for the worse is told within a second of being known, and so is its end", () => {
  test("sound that stops", async () => {
    const broadcast = publish();
    await send(broadcast, { seconds: 4 });
    const before = clock.now();
    for (const { at, packet } of syntheticSource({ seconds: 8, clockAt: 4 })) {
      clock.advance(before + at - clock.now());
      if (packet.kind === "video" || at > 5_000) broadcast.publication.packet(packet);
    }
    const metrics = log.of("source-metrics");
    expect(metrics.map(({ source }) => source.audio)).toEqual(["flowing", "stopped", "flowing"]);
    expect((metrics[1]?.at ?? 0) - before).toBeLessThanOrEqual(3_100);
    expect((metrics[2]?.at ?? 0) - before).toBeLessThanOrEqual(6_100);
  });

  test("keyframes that do not come", async () => {
    await send(publish(), { seconds: 6, gopSeconds: 30 });
    expect(log.of("source-metrics")).toHaveLength(2);
    const last = log.of("source-metrics").at(-1);
    expect(last?.source.keyframeIntervalMs).toBeGreaterThanOrEqual(4_500);
    expect(last?.source.keyframeIntervalMs).toBeLessThanOrEqual(5_500);
  });
});
