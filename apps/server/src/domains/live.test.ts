import type { Session, Stream } from "@weir/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { MediaFact, PublishGrant, RecordedSegment, SegmentClosed, SessionStart } from "../ports.ts";
import { startTestDomains, type TestDomains, WINDOW_MS } from "./domain-test-kit.ts";
import { EventLog } from "./events/index.ts";
import type { Domains } from "./index.ts";

let kit: TestDomains;
let stream: Stream;
beforeAll(async () => {
  kit = await startTestDomains();
});
afterAll(() => kit[Symbol.asyncDispose]());
beforeEach(async () => {
  stream = (await kit.call("POST", "/api/stream", { name: "stage", record: true })).json();
});

const now = () => kit.clock.now();
const read = async (): Promise<Stream> => (await kit.call("GET", `/api/stream/${stream.id}`)).json();
const readSession = async (id: string): Promise<Session> => (await kit.call("GET", `/api/session/${id}`)).json();
const events = async () => (await new EventLog().since(kit.db, stream.id, 0, 100)).map(({ event }) => event);
const states = async () =>
  (await events()).flatMap((event) => (event.type === "stream_state" ? [event.state.active] : []));

async function authorize(domains: Domains = kit.domains): Promise<PublishGrant> {
  const request = { protocol: "rtmp", streamKey: stream.streamKey, remoteAddress: "127.0.0.1" } as const;
  const decision = await domains.publishGate.authorize(request);
  if (!decision.ok) throw new Error(decision.reason);
  return decision.grant;
}

async function publish(domains: Domains = kit.domains): Promise<{ grant: PublishGrant; start: SessionStart }> {
  const grant = await authorize(domains);
  const start = await domains.publishGate.begin(grant, now());
  if (!start) throw new Error("not begun");
  return { grant, start };
}

/** Report, and wait until it is in the rows. */
async function tell(domains: Domains, ...facts: MediaFact[]): Promise<void> {
  for (const fact of facts) domains.eventSink.report(fact);
  await (domains.eventSink as unknown as { flush(): Promise<void> }).flush();
}

function ended(grant: PublishGrant, why: "clean-stop" | "source-lost"): MediaFact {
  const { streamId, epoch } = grant;
  return { type: "source-ended", streamId, epoch, at: now(), why, reason: "test", lastPacketAt: now() };
}

function segment(grant: PublishGrant, sessionId: string, msn: number, span = "1-0000000001.m4s"): SegmentClosed {
  const row = (rendition: string, kind: "video" | "audio"): RecordedSegment => ({
    rendition,
    track: {
      kind,
      codec: kind === "video" ? "avc" : "aac",
      config: "AA==",
      timescale: 90_000,
      codecString: "x",
      ...(kind === "video" ? { width: 640, height: 360 } : {}),
    },
    msn,
    epoch: grant.epoch,
    startTicks: (msn - 1) * 180_000,
    durationTicks: 180_000,
    programDateTimeMs: now() + 0.5,
    discontinuity: false,
    gap: false,
    init: "init-0a0b0c0d.mp4",
    span,
    offset: (msn - 1) * 1_000,
    length: 1_000,
  });
  return {
    type: "segment-closed",
    streamId: grant.streamId,
    epoch: grant.epoch,
    at: now(),
    sessionId,
    position: { nextMsn: msn + 1, discontinuitySequence: 0, endTicks: msn * 180_000 },
    durationSeconds: 2,
    bytes: 2_000,
    recorded: [row("source", "video"), row("audio", "audio")],
  };
}

const sealed = (grant: PublishGrant, sessionId: string, rendition: string, span = "1-0000000001.m4s"): MediaFact => ({
  type: "span-sealed",
  streamId: grant.streamId,
  epoch: grant.epoch,
  at: now(),
  sessionId,
  rendition,
  span,
  bytes: 500_000,
});

/** Let time pass and the housekeeping run. */
async function pass(ms: number): Promise<void> {
  kit.clock.advance(ms);
  await kit.domains.housekeeping.tick();
}

describe("publishing", () => {
  it("a first keyframe makes the stream live, with a session and one event", async () => {
    const { start } = await publish();
    expect(start).toMatchObject({ resume: null, record: true });
    expect(await read()).toMatchObject({ isActive: true, status: { state: "live", sessionId: start.sessionId } });
    expect(await events()).toEqual([
      expect.objectContaining({
        type: "stream_state",
        v: 1,
        nodeId: kit.domains.node.id,
        region: "local",
        state: { active: true },
      }),
    ]);
  });

  it.each(["0000-0000-0000-0000", "", "a\0b", "../../etc", "x".repeat(10_000)])(
    "the key %j is unknown",
    async (streamKey) => {
      const request = { protocol: "rtmp", streamKey, remoteAddress: "127.0.0.1" } as const;
      expect(await kit.domains.publishGate.authorize(request)).toEqual({ ok: false, reason: "unknown-key" });
    },
  );

  it("a second publisher with the same key takes over: same session, and the first one's facts are dropped", async () => {
    const first = await publish();
    const second = await publish();
    expect(second.start.sessionId).toBe(first.start.sessionId);
    await tell(kit.domains, ended(first.grant, "clean-stop"));
    expect(await read()).toMatchObject({ status: { state: "live" } });
    expect(await kit.domains.publishGate.begin(first.grant, now())).toBeNull();
    expect(await states()).toEqual([true]);
  });

  it("a publisher that leaves before its first keyframe made nothing", async () => {
    const grant = await authorize();
    await tell(kit.domains, ended(grant, "source-lost"));
    expect(await read()).toMatchObject({ isActive: false, lastSeen: 0 });
    expect(await events()).toEqual([]);
  });

  it("record and profiles cannot change while live, and the same value is no change", async () => {
    await publish();
    const patch = (body: object) => kit.call("PATCH", `/api/stream/${stream.id}`, body);
    expect((await patch({ record: false })).json()).toEqual({
      errors: ["cannot change 'record' field while stream is active"],
    });
    expect((await patch({ profiles: [] })).json()).toEqual({
      errors: ["cannot change 'profiles' field while stream is active"],
    });
    expect((await patch({ record: true, profiles: stream.profiles, name: "new" })).statusCode).toBe(204);
  });

  it("terminating ends the session at once, tells the media floor, and the broadcaster may come back to a new one", async () => {
    const { grant, start } = await publish();
    expect((await kit.call("DELETE", `/api/stream/${stream.id}/terminate`)).statusCode).toBe(204);
    expect(await read()).toMatchObject({ isActive: false });
    expect(kit.asked.stops).toContainEqual({ streamId: stream.id, why: "terminated" });
    await tell(kit.domains, ended(grant, "source-lost"));
    expect(await states()).toEqual([true, false]);
    expect((await publish()).start.sessionId).not.toBe(start.sessionId);
  });

  it("a suspended stream is idle and neither publishes nor plays", async () => {
    await publish();
    expect((await kit.call("PATCH", `/api/stream/${stream.id}`, { suspended: true })).statusCode).toBe(204);
    expect(await read()).toMatchObject({ isActive: false, suspended: true });
    await expect(authorize()).rejects.toThrow("suspended");
    const { playbackId } = stream;
    expect(await kit.domains.playbackGate.open({ playbackId })).toEqual({ ok: false, reason: "denied" });
    expect((await kit.call("GET", `/api/playback/${playbackId}`)).statusCode).toBe(404);
  });
});

describe("the reconnect window", () => {
  it("a publisher back within it goes on with the session, clear of every name used", async () => {
    const { grant, start } = await publish();
    await tell(kit.domains, segment(grant, start.sessionId, 1), ended(grant, "source-lost"));
    expect(await read()).toMatchObject({
      isActive: true,
      status: { state: "reconnecting", reconnectUntil: now() + WINDOW_MS },
    });
    await pass(WINDOW_MS - 1);
    const back = await publish();
    expect(back.start).toEqual({
      sessionId: start.sessionId,
      record: true,
      resume: { nextMsn: 2 + 16, discontinuitySequence: 0, endTicks: 180_000 + 32 * 90_000 },
    });
    // It dies before its first segment: the next one keeps clear of its names too.
    await tell(kit.domains, ended(back.grant, "source-lost"));
    expect((await publish()).start.resume).toMatchObject({ nextMsn: 2 + 32 });
    expect(await states()).toEqual([true]);
  });

  it("when it is over the session ends at its last packet", async () => {
    const { grant, start } = await publish();
    await tell(kit.domains, ended(grant, "source-lost"));
    const lastPacketAt = now();
    await pass(WINDOW_MS);
    expect(await read()).toMatchObject({ isActive: false, lastSeen: lastPacketAt, status: { state: "idle" } });
    expect(await readSession(start.sessionId)).toMatchObject({ isActive: false, endedAt: lastPacketAt });
    expect(await states()).toEqual([true, false]);
  });

  it("a publisher that comes after it, before anybody noticed, begins a new session", async () => {
    const { grant, start } = await publish();
    await tell(kit.domains, ended(grant, "source-lost"));
    kit.clock.advance(WINDOW_MS);
    expect((await publish()).start).toMatchObject({
      resume: null,
      sessionId: expect.not.stringContaining(start.sessionId),
    });
    expect(await states()).toEqual([true, false, true]);
  });

  it("packets that flow again on the same connection end it", async () => {
    const { grant } = await publish();
    const { streamId, epoch } = grant;
    await tell(kit.domains, ended(grant, "source-lost"));
    await tell(kit.domains, { type: "source-back", streamId, epoch, at: now() });
    expect(await read()).toMatchObject({ status: { state: "live" } });
    await pass(WINDOW_MS * 2);
    expect(await read()).toMatchObject({ status: { state: "live" } });
  });
});

describe("counters and metrics", () => {
  it("segments add up on session and stream, and metrics set rates and become events", async () => {
    const { grant, start } = await publish();
    const { streamId, epoch } = grant;
    const { sessionId } = start;
    const rates = { mediaTimeMs: 4_000, ingestRate: 1_000, outgoingRate: 50 };
    await tell(kit.domains, segment(grant, sessionId, 1), segment(grant, sessionId, 2), {
      type: "source-metrics",
      streamId,
      epoch,
      at: now(),
      sessionId,
      ...rates,
    });
    const expected = {
      sourceSegments: 2,
      sourceSegmentsDuration: 4,
      sourceBytes: 4_000,
      ingestRate: 1_000,
      outgoingRate: 50,
    };
    expect(await read()).toMatchObject(expected);
    expect(await readSession(sessionId)).toMatchObject(expected);
    expect((await events()).at(-1)).toMatchObject({
      type: "media_server_metrics",
      stats: { mediaTimeMs: 4_000 },
      multistream: [],
    });
    await tell(kit.domains, ended(grant, "clean-stop"));
    expect(await read()).toMatchObject({ ingestRate: 0, outgoingRate: 0, sourceSegments: 2 });
  });

  it("a session without a recording counts its segments too", async () => {
    await kit.call("PATCH", `/api/stream/${stream.id}`, { record: false });
    const { grant, start } = await publish();
    await tell(kit.domains, { ...segment(grant, start.sessionId, 1), recorded: [] });
    const session = await readSession(start.sessionId);
    expect(session).toMatchObject({ sourceSegments: 1, record: false });
    expect(session.recordingStatus).toBeUndefined();
    expect((await kit.call("GET", `/api/stream/${stream.id}/sessions`)).json()).toEqual([session]);
    expect((await kit.call("GET", `/api/stream/${stream.id}/sessions?record=true`)).json()).toEqual([]);
  });
});

describe("recordings", () => {
  it("is ready when the session has ended and every span is sealed, and plays by its own id", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    await tell(
      kit.domains,
      segment(grant, sessionId, 1),
      segment(grant, sessionId, 2),
      sealed(grant, sessionId, "source"),
    );
    await tell(kit.domains, ended(grant, "clean-stop"));
    await pass(2_000);
    expect(await readSession(sessionId)).toMatchObject({ recordingStatus: "waiting" });
    expect((await kit.call("GET", `/api/playback/${sessionId}`)).statusCode).toBe(422);

    await tell(kit.domains, sealed(grant, sessionId, "audio"));
    await pass(5_000);
    const session = await readSession(sessionId);
    expect(session).toMatchObject({ recordingStatus: "ready", sourceSegmentsDuration: 4 });
    const playbackId = /\/asset\/hls\/([^/]+)\/index.m3u8$/.exec(session.recordingUrl ?? "")?.[1] ?? "";
    expect(session.mp4Url).toBe(`http://weir.test/asset/hls/${playbackId}/staticsource.mp4`);
    expect(await kit.domains.playbackGate.open({ playbackId })).toMatchObject({
      ok: true,
      content: { kind: "recording", sessionId },
    });
    const index = await kit.domains.playbackGate.recording(sessionId);
    expect(index?.renditions.map(({ rendition, segments }) => [rendition, segments.map(({ msn }) => msn)])).toEqual([
      ["audio", [1, 2]],
      ["source", [1, 2]],
    ]);
    const byId = (await kit.call("GET", `/api/playback/${playbackId}`)).json();
    const bySession = (await kit.call("GET", `/api/playback/${sessionId}`)).json();
    expect([byId.type, bySession.type]).toEqual(["vod", "recording"]);
    expect(bySession.meta.source[0]).toMatchObject({ hrn: "MP4", width: 640, height: 360, url: session.mp4Url });
  });

  it("one that stopped early keeps what is sealed and says why; one with nothing sealed has failed", async () => {
    for (const keeps of [true, false]) {
      const { grant, start } = await publish();
      const { streamId, epoch } = grant;
      const { sessionId } = start;
      const failed = {
        type: "recording-failed",
        streamId,
        epoch,
        at: now(),
        sessionId,
        reason: "the spool is full",
      } as const;
      const seals = keeps ? [sealed(grant, sessionId, "source"), sealed(grant, sessionId, "audio")] : [];
      await tell(
        kit.domains,
        segment(grant, sessionId, 1),
        ...seals,
        segment(grant, sessionId, 2, "later.m4s"),
        failed,
      );
      await tell(kit.domains, ended(grant, "clean-stop"));
      await pass(2_000);
      const recordingStatus = keeps ? "ready" : "failed";
      expect(await readSession(sessionId)).toMatchObject({ recordingStatus, recordingError: "the spool is full" });
      const index = await kit.domains.playbackGate.recording(sessionId);
      expect(index?.renditions[0]?.segments.map(({ msn }) => msn)).toEqual(keeps ? [1] : undefined);
    }
  });

  it("without a policy it is public; with jwt or webhook it is denied as an unknown one is", async () => {
    const denied = { ok: false, reason: "denied" };
    for (const type of ["jwt", "webhook"]) {
      const gated: Stream = (await kit.call("POST", "/api/stream", { name: "gated", playbackPolicy: { type } })).json();
      expect(await kit.domains.playbackGate.open({ playbackId: gated.playbackId })).toEqual(denied);
    }
    for (const playbackId of ["0000000000000000", "", "a\0", stream.id]) {
      expect(await kit.domains.playbackGate.open({ playbackId })).toEqual(denied);
    }
    expect(await kit.domains.playbackGate.open({ playbackId: stream.playbackId })).toMatchObject({ ok: true });
  });
});

describe("kill -9", () => {
  it("after a restart the stream is reconnecting, then idle; late rows of the spool complete the recording, once each", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    await tell(kit.domains, segment(grant, sessionId, 1));
    const lastSeen = now();
    kit.clock.advance(5_000);

    await using reborn = disposable(kit.another("one"));
    await reborn.domains.node.join();
    expect(await read()).toMatchObject({
      status: { state: "reconnecting", reconnectUntil: lastSeen + WINDOW_MS },
      lastSeen,
    });
    // Segment 1 is told again, segment 2 never reached the database before the crash. Both have the epoch of the dead publisher.
    await tell(reborn.domains, segment(grant, sessionId, 1), segment(grant, sessionId, 2));
    await tell(reborn.domains, ended(grant, "clean-stop"));
    expect(await read()).toMatchObject({
      status: { state: "reconnecting" },
      lastSeen,
      sourceSegments: 2,
      sourceSegmentsDuration: 4,
    });

    await pass(WINDOW_MS - 5_000);
    expect(await read()).toMatchObject({ isActive: false, lastSeen });
    await tell(reborn.domains, sealed(grant, sessionId, "source"), sealed(grant, sessionId, "audio"));
    await pass(20_000);
    expect(await readSession(sessionId)).toMatchObject({
      recordingStatus: "ready",
      sourceSegmentsDuration: 4,
      endedAt: lastSeen,
    });
    // Final: a row that comes even later changes nothing.
    await tell(reborn.domains, segment(grant, sessionId, 3));
    expect(await readSession(sessionId)).toMatchObject({ sourceSegments: 2 });
    expect(await states()).toEqual([true, false]);
  });

  it("a restart after the window ends the session at once, and the recording still waits for the spool", async () => {
    const { grant, start } = await publish();
    await tell(
      kit.domains,
      segment(grant, start.sessionId, 1),
      sealed(grant, start.sessionId, "source"),
      sealed(grant, start.sessionId, "audio"),
    );
    kit.clock.advance(3_600_000);
    await using reborn = disposable(kit.another("one"));
    await reborn.domains.node.join();
    await pass(2_000);
    expect(await read()).toMatchObject({ isActive: false });
    expect(await readSession(start.sessionId)).toMatchObject({ isActive: false, recordingStatus: "waiting" });
    await pass(20_000);
    expect(await readSession(start.sessionId)).toMatchObject({ recordingStatus: "ready" });
  });

  it("a publisher back after the restart goes on with the session", async () => {
    const { start } = await publish();
    await using reborn = disposable(kit.another("one"));
    await reborn.domains.node.join();
    expect((await publish(reborn.domains)).start).toMatchObject({
      sessionId: start.sessionId,
      resume: { nextMsn: 17 },
    });
  });

  it("another node that is lost loses its streams when its lease is over, not before", async () => {
    await using other = disposable(kit.another("two"));
    await other.domains.node.join();
    await publish(other.domains);
    await other.domains.close();
    await pass(8_000);
    expect(await read()).toMatchObject({ status: { state: "live" } });
    // Leases are told by the database's clock.
    await kit.db
      .updateTable("node")
      .set({ seen_at: new Date(0) })
      .where("name", "=", "two")
      .execute();
    await pass(8_000);
    expect(await read()).toMatchObject({ isActive: true, status: { state: "reconnecting" } });
  });

  it("a node that leaves gives its streams back, and a draining one takes no publisher", async () => {
    await using other = disposable(kit.another("three"));
    await other.domains.node.join();
    await publish(other.domains);
    await other.domains.node.drain();
    await expect(authorize(other.domains)).rejects.toThrow("draining");
    await other.domains.node.leave();
    expect(await read()).toMatchObject({ status: { state: "reconnecting" } });
  });
});

const disposable = (domains: Domains) => ({ domains, [Symbol.asyncDispose]: () => domains.close() });
