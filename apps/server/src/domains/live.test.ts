import { describe, expect, it } from "vitest";
import { viewerOf, WINDOW_MS } from "./domain-test-kit.ts";
import {
  authorize,
  ended,
  events,
  kit,
  measured,
  now,
  pass,
  publish,
  read,
  readSession,
  segment,
  setUpLiveRig,
  states,
  stream,
  tell,
  transcoded,
} from "./live-test-rig.ts";

setUpLiveRig();

describe("publishing", () => {
  it("a first keyframe makes the stream live, with a session and its events", async () => {
    const { start } = await publish();
    expect(start).toMatchObject({ resume: null, record: true, profiles: stream.profiles });
    expect(await read()).toMatchObject({ isActive: true, status: { state: "live", sessionId: start.sessionId } });
    expect(await events()).toEqual([
      expect.objectContaining({
        type: "stream_state",
        v: 1,
        nodeId: kit.domains.node.id,
        region: "local",
        state: { active: true },
      }),
      expect.objectContaining({ type: "webhook_event", event: "recording.started", sessionId: start.sessionId }),
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
    expect((await patch({ record: false })).json()).toMatchObject({
      errors: ["cannot change 'record' field while stream is active"],
    });
    expect((await patch({ profiles: [] })).json()).toMatchObject({
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
    expect(await kit.domains.playbackGate.open(viewerOf(playbackId))).toEqual({ ok: false, reason: "denied" });
    expect((await kit.call("GET", `/api/playback/${playbackId}`)).statusCode).toBe(404);
  });
});

describe("the reconnect window", () => {
  it("a publisher back within it goes on with the session, clear of every name used", async () => {
    const { grant, start } = await publish();
    const startedAtMs = now();
    await tell(kit.domains, segment(grant, start.sessionId, 1), ended(grant, "source-lost"));
    expect(await read()).toMatchObject({
      isActive: true,
      status: { state: "reconnecting", reconnectUntil: now() + WINDOW_MS },
    });
    await pass(WINDOW_MS - 1);
    const back = await publish();
    expect(back.start).toEqual({
      sessionId: start.sessionId,
      startedAtMs,
      previousEpoch: grant.epoch,
      previousPlace: null,
      record: true,
      dvrSeconds: null,
      recordedProfiles: stream.profiles.map(({ name }) => name),
      profiles: stream.profiles,
      isDefaultLadder: true,
      resume: {
        // A segment more for each 1.5 s since the position was written.
        nextMsn: 2 + 16 + 19,
        discontinuitySequence: 0,
        endTicks: 180_000 + 32 * 90_000 + (WINDOW_MS - 1) * 90,
        targetDuration: 2,
        neededTargetDuration: 2,
        sound: null,
      },
      lastTargetDuration: null,
      lastSound: null,
      slate: "off",
      slateImage: null,
      targets: [],
    });
    // It dies before its first segment: the next one keeps clear of its names too.
    await tell(kit.domains, ended(back.grant, "source-lost"));
    expect((await publish()).start.resume).toMatchObject({ nextMsn: 2 + 32 + 19 });
    expect(await states()).toEqual([true]);
  });

  it("a session's sound is known to the publisher who resumes it, and to the stream's next session", async () => {
    const sound = { codec: "aac", config: "1190" } as const;
    const { grant, start } = await publish();
    expect(start.lastSound).toBeNull();
    const withSound = segment(grant, start.sessionId, 1);
    const heard = { ...withSound, position: { ...withSound.position, sound } };
    // Positions without sound, as of a later part of a node that was resumed, do not take it away.
    await tell(kit.domains, heard, segment(grant, start.sessionId, 2), ended(grant, "source-lost"));
    const back = await publish();
    expect(back.start.resume).toMatchObject({ sound });
    await tell(kit.domains, segment(back.grant, start.sessionId, 30), ended(back.grant, "clean-stop"));
    await pass(1);
    const next = await publish();
    expect(next.start).toMatchObject({ resume: null, lastTargetDuration: 2, lastSound: sound });
    await tell(kit.domains, segment(next.grant, next.start.sessionId, 1), ended(next.grant, "clean-stop"));
    await pass(1);
    expect((await publish()).start).toMatchObject({ resume: null, lastSound: null });
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
    const { sessionId } = start;
    const webrtc = {
      publisher: { roundTripMs: null, fractionLost: 0.25, retransmits: 3 },
      viewers: { roundTripMs: 20, fractionLost: 0, retransmits: 0, count: 2, lowered: 1 },
      hasBFrames: false,
    };
    const rates = { mediaTimeMs: 4_000, ingestRate: 1_000, outgoingRate: 50, transcoding: null, webrtc };
    const segments = [segment(grant, sessionId, 1), segment(grant, sessionId, 2)];
    const watched = { playbackId: (await read()).playbackId, now: 3, begun: 3, watchedMs: 0, newViewers: [] };
    kit.domains.eventSink.countViewers([watched]);
    kit.clock.advance(1_000);
    await expect.poll(async () => (await kit.db.selectFrom("viewer_count").selectAll().execute()).length).toBe(1);
    const info = async () => (await kit.call("GET", `/api/playback/${watched.playbackId}`, undefined, {})).json().meta;
    expect(await info()).toMatchObject({ live: 1, viewerCount: 3, startedAt: expect.any(Number) });
    await kit.call("PATCH", `/api/stream/${stream.id}`, { playbackPolicy: { type: "jwt" } });
    const told = Object.keys(await info());
    expect([told.includes("viewerCount"), told.includes("startedAt")]).toEqual([false, false]);
    await kit.call("PATCH", `/api/stream/${stream.id}`, { playbackPolicy: { type: "public" } });
    await tell(kit.domains, ...segments, measured(grant, sessionId, rates));
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
      stats: {
        mediaTimeMs: 4_000,
        ingestRate: 1_000,
        outgoingRate: 50,
        frameRate: 30,
        keyframeIntervalMs: 2_000,
        viewerCount: 3,
        webrtc: { publisher: { fractionLost: 0.25, retransmits: 3 }, viewers: webrtc.viewers },
      },
      multistream: [],
    });
    await tell(kit.domains, ended(grant, "clean-stop"));
    expect(await read()).toMatchObject({ ingestRate: 0, outgoingRate: 0, sourceSegments: 2 });
  });

  it("the ladder's state and its renditions stand in the stream's status while it is live", async () => {
    const { grant, start } = await publish();
    const renditions = [{ name: "480p", width: 854, height: 480, state: "running", lagMs: 120 }] as const;
    await tell(kit.domains, measured(grant, start.sessionId, { transcoding: { state: "running", renditions } }));
    expect(await read()).toMatchObject({ status: { transcoding: { state: "running" }, renditions } });
    await tell(kit.domains, ended(grant, "clean-stop"));
    expect(await read()).toMatchObject({ status: expect.not.objectContaining({ renditions }) });
  });

  it("segments that went through the transcoder are events and counters, and a failure is the stream's issue", async () => {
    const { grant, start } = await publish();
    const { sessionId } = start;
    expect(await read()).toMatchObject({ isHealthy: null, issues: [] });
    await tell(kit.domains, measured(grant, sessionId));
    expect(await read()).toMatchObject({ isHealthy: true, issues: [] });
    await tell(
      kit.domains,
      transcoded(grant, sessionId, 1),
      transcoded(grant, sessionId, 2, "no room on this machine"),
    );
    const counters = { transcodedSegments: 1, transcodedSegmentsDuration: 2, transcodedBytes: 900 };
    const ill = { isHealthy: false, issues: ["The transcoder failed."] };
    expect(await read()).toMatchObject({ ...counters, ...ill });
    expect(await readSession(sessionId)).toMatchObject({ ...counters, ...ill });
    const unhealthy = `filters=${encodeURIComponent(JSON.stringify([{ id: "isHealthy", value: false }]))}`;
    expect((await kit.call("GET", `/api/stream?${unhealthy}`)).json()).toEqual([await read()]);
    expect((await events()).filter((event) => event.type === "transcode")).toEqual([
      {
        type: "transcode",
        id: expect.any(String),
        timestamp: now(),
        streamId: stream.id,
        v: 1,
        nodeId: kit.domains.node.id,
        segment: { name: "1.m4s", seqNo: 1, duration: 2, byteSize: 2_000 },
        startTime: now(),
        latencyMs: 300,
        success: true,
        attempts: [{ orchestrator: { address: "local", transcodeUri: "local:0" }, latencyMs: 300, error: null }],
      },
      expect.objectContaining({ type: "transcode", success: false }),
    ]);
    await tell(kit.domains, ...[3, 4, 5].map((msn) => transcoded(grant, sessionId, msn)));
    expect(await read()).toMatchObject({ isHealthy: true, issues: [], transcodedSegments: 4 });
    await tell(kit.domains, ended(grant, "source-lost"));
    expect(await read()).toMatchObject({ isHealthy: false, issues: [expect.stringContaining("No media comes")] });
  });

  it("the last segment is transcoded when the session has ended and still counts; a replaced publisher's does not", async () => {
    const first = await publish();
    const second = await publish();
    const { sessionId } = second.start;
    await tell(kit.domains, ended(second.grant, "clean-stop"), transcoded(second.grant, sessionId, 1, "late"));
    await tell(kit.domains, transcoded(second.grant, sessionId, 2), transcoded(first.grant, sessionId, 3));
    expect(await read()).toMatchObject({ transcodedSegments: 1, isHealthy: null, issues: null });
    expect(await readSession(sessionId)).toMatchObject({ transcodedSegments: 1, isHealthy: null, issues: null });
    expect((await events()).filter((event) => event.type === "transcode")).toHaveLength(2);
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
