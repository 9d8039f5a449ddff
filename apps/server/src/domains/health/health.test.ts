import type { ConditionType, StreamEvent, StreamHealth } from "@weir/contract";
import fc from "fast-check";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { EventLog, type NewEvent } from "../events/index.ts";
import {
  authorize,
  ended,
  kit,
  now,
  pass,
  publish,
  read,
  setUpLiveRig,
  measured as sourceMeasured,
  stream,
  tell,
  transcoded,
} from "../live-test-rig.ts";
import { streamSubject } from "../subject.ts";
import { HealthReducer } from "./health-reducer.ts";
import { HealthViews } from "./health-views.ts";

setUpLiveRig();
const log = new EventLog();

const health = async (path = "/data"): Promise<StreamHealth> =>
  (await kit.call("GET", `${path}/stream/${stream.id}/health`)).json();
const statuses = ({ healthy, conditions }: StreamHealth) =>
  Object.fromEntries([["healthy", healthy.status], ...conditions.map(({ type, status }) => [type, status])]);
const conditionOf = ({ conditions }: StreamHealth, type: ConditionType) =>
  conditions.find((condition) => condition.type === type);

/** Append events of the stream as they are. */
async function append(...events: readonly (Pick<NewEvent, "at" | "body"> & Partial<NewEvent>)[]): Promise<void> {
  const owner = { projectId: stream.projectId ?? "", userId: stream.userId ?? "" };
  const whole = events.map((event) => ({
    subject: streamSubject(stream.id),
    owner,
    kind: "telemetry" as const,
    ...event,
  }));
  await kit.db.transaction().execute((trx) => log.append(trx, whole));
}

const state = (active: boolean, at = now()): Pick<NewEvent, "at" | "body" | "kind"> => ({
  at,
  kind: "lifecycle",
  body: { type: "stream_state", nodeId: "n", region: "r", userId: stream.userId ?? "", state: { active } },
});
const segment = (at: number, { success = true, latencyMs = 500, error = null as string | null } = {}) => ({
  at,
  body: {
    type: "transcode" as const,
    nodeId: "n",
    segment: { name: "1.m4s", seqNo: 1, duration: 2, byteSize: 1 },
    startTime: at,
    latencyMs,
    success,
    attempts: [{ orchestrator: { address: "n", transcodeUri: "u" }, latencyMs, error }],
  },
});
const target = { id: "t", name: "elsewhere", profile: "source" };
const measured = (at: number, targets: readonly { connected: boolean }[] = []) => ({
  at,
  body: {
    type: "media_server_metrics" as const,
    nodeId: "n",
    region: "r",
    stats: { mediaTimeMs: at % 100_000 },
    multistream: targets.map(({ connected }) => ({
      target,
      metrics: connected ? { activeSec: 1, bytes: 2, mediaTimeMs: 3 } : null,
    })),
  },
});
const told = (at: number, event: string, payload: Record<string, unknown> = {}) => ({
  at,
  body: { type: "webhook_event" as const, event, userId: "u", payload: { target, ...payload } },
});

it("before the first event nothing is known", async () => {
  const record = await health();
  const unknown = { status: null, lastProbeTime: null, lastTransitionTime: null, lastTransitionsTime: null };
  expect(record).toEqual({
    id: stream.id,
    healthy: unknown,
    conditions: ["Active", "Transcoding", "TranscodeRealTime", "TranscodeNoErrors", "Multistreaming"].map((type) => ({
      type,
      ...unknown,
    })),
    metrics: {},
    multistream: [],
  });
  expect(await health("/api/data")).toEqual(record);
});

it("a stream without a ladder is healthy while it is active, and not when it has stopped", async () => {
  await kit.call("PATCH", `/api/stream/${stream.id}`, { profiles: [] });
  const { grant } = await publish();
  const live = await health();
  expect(statuses(live)).toEqual({
    healthy: true,
    Active: true,
    Transcoding: null,
    TranscodeRealTime: null,
    TranscodeNoErrors: null,
    Multistreaming: null,
  });
  expect(conditionOf(live, "Active")).toEqual({
    type: "Active",
    status: true,
    frequency: { "1m": 1, "10m": 1, "60m": 1 },
    lastProbeTime: now(),
    lastTransitionTime: now(),
    lastTransitionsTime: now(),
    extraData: { nodeId: kit.domains.node.id, region: "local" },
  });
  kit.clock.advance(15_000);
  await tell(kit.domains, ended(grant, "clean-stop"));
  const idle = await health();
  expect(statuses(idle)).toMatchObject({ healthy: false, Active: false, Transcoding: null });
  expect(idle.healthy).toMatchObject({ lastProbeTime: now(), lastTransitionTime: now(), frequency: { "1m": 0.5 } });
});

it("a lost source is still active until its window is over, and not healthy", async () => {
  const { grant } = await publish();
  await tell(kit.domains, ended(grant, "source-lost"));
  expect(statuses(await health())).toMatchObject({ healthy: false, Active: true });
  await pass(31_000);
  expect((await health()).healthy.status).toBe(false);
});

it("a stream with a ladder is neither healthy nor unhealthy before its first segment was made", async () => {
  const { grant, start } = await publish();
  const report = (state: "starting" | "running") => ({ transcoding: { state, renditions: [] } });
  const both = async () => [(await health()).healthy.status, (await read()).isHealthy];
  const unhealthy = encodeURIComponent(JSON.stringify([{ id: "isHealthy", value: false }]));
  expect(await both()).toEqual([null, null]);
  await tell(kit.domains, sourceMeasured(grant, start.sessionId, report("starting")));
  expect(await both()).toEqual([null, null]);
  expect((await health()).healthy).not.toHaveProperty("frequency");
  expect((await kit.call("GET", `/api/stream?filters=${unhealthy}`)).json()).toEqual([]);
  await tell(
    kit.domains,
    transcoded(grant, start.sessionId, 0),
    sourceMeasured(grant, start.sessionId, report("running")),
  );
  expect(await both()).toEqual([true, true]);
  await tell(kit.domains, { ...transcoded(grant, start.sessionId, 1), latencyMs: 2001 });
  expect(await both()).toEqual([false, false]);
  await tell(kit.domains, ...[2, 3].map((seqNo) => transcoded(grant, start.sessionId, seqNo)));
  expect(await both()).toEqual([false, false]);
  await tell(kit.domains, transcoded(grant, start.sessionId, 4));
  expect(await both()).toEqual([true, true]);
});

it("segments that are not made, or too slowly, make it unhealthy; three good ones heal it", async () => {
  const { grant, start } = await publish();
  await tell(kit.domains, sourceMeasured(grant, start.sessionId));
  const seen = [];
  for (const [seqNo, error] of ["too little room", null, null, null].entries()) {
    kit.clock.advance(2000);
    await tell(kit.domains, transcoded(grant, start.sessionId, seqNo, error));
    seen.push(statuses(await health()));
  }
  expect(seen).toMatchObject([
    { healthy: false, Active: true, Transcoding: false, TranscodeRealTime: false, TranscodeNoErrors: false },
    { healthy: false, Active: true, Transcoding: true, TranscodeRealTime: true, TranscodeNoErrors: true },
    { healthy: false },
    { healthy: true, Active: true, Transcoding: true, TranscodeRealTime: true, TranscodeNoErrors: true },
  ]);
  kit.clock.advance(2000);
  await tell(kit.domains, { ...transcoded(grant, start.sessionId, 4), latencyMs: 2001 });
  const slow = await health();
  expect(statuses(slow)).toMatchObject({ healthy: false, Transcoding: true, TranscodeRealTime: false });
  expect(slow.metrics.TranscodeRealtimeRatio).toEqual([
    { name: "TranscodeRealtimeRatio", dimensions: { nodeId: kit.domains.node.id }, last: [now(), 2000 / 2001] },
  ]);
});

it("a session begins with nothing known of the one before, whose last segments are no news", async () => {
  await append(state(true), segment(now() + 1000, { success: false }));
  await append(state(false, now() + 2000), state(true, now() + 5000));
  const late = segment(now() + 6000, { success: false });
  await append({ ...late, body: { ...late.body, startTime: now() + 1500 } });
  expect(statuses(await health())).toMatchObject({ healthy: true, Transcoding: null, TranscodeNoErrors: null });
});

it("frequencies are the shares of good readings in the minutes before the last one", async () => {
  const at = now();
  const readings = [
    [at, false],
    [at + 1_860_000, true],
    [at + 3_000_001, false],
    [at + 3_540_000, true],
    [at + 3_540_001, true],
    [at + 3_600_000, false],
  ] as const;
  await append(state(true, at), ...readings.map(([time, success]) => segment(time, { success })));
  const condition = conditionOf(await health(), "Transcoding");
  expect(condition?.frequency).toEqual({ "1m": 1 / 2, "10m": 2 / 4, "60m": 3 / 5 });
  expect(condition).toMatchObject({ lastProbeTime: at + 3_600_000, lastTransitionTime: at + 3_600_000 });
});

it("tells how well the WebRTC connections of publisher and viewers carry the stream", async () => {
  const fact = measured(now());
  const link = { fractionLost: 0.25, retransmits: 3 };
  const webrtc = { publisher: link, viewers: { ...link, roundTripMs: 20, count: 2, lowered: 0 } };
  await append(state(true), { ...fact, body: { ...fact.body, stats: { ...fact.body.stats, webrtc } } });
  const { metrics } = await health();
  const told = (name: string) =>
    Object.fromEntries(metrics[name]?.map(({ dimensions, last }) => [dimensions.side, last[1]]) ?? []);
  expect(told("WebrtcRoundTripMillis")).toEqual({ viewers: 20 });
  expect(told("WebrtcFractionLost")).toEqual({ publisher: 0.25, viewers: 0.25 });
  expect(told("WebrtcRetransmits")).toEqual({ publisher: 3, viewers: 3 });
});

it("tells how well SRT carries the publisher's stream", async () => {
  const fact = measured(now());
  const srt = { roundTripMs: 60, latencyMs: 240, fractionLost: 0.05, retransmits: 40, latePackets: 2 };
  await append(state(true), { ...fact, body: { ...fact.body, stats: { ...fact.body.stats, srt } } });
  const { metrics } = await health();
  const names = ["SrtRoundTripMillis", "SrtLatencyMillis", "SrtFractionLost", "SrtRetransmits", "SrtLatePackets"];
  expect(names.map((name) => metrics[name]?.[0]?.last[1])).toEqual([60, 240, 0.05, 40, 2]);
});

describe("multistream targets", () => {
  it("of a stream make it unhealthy while it is live and they are not connected, unless they are disabled", async () => {
    const spec = { name: "elsewhere", url: "rtmp://example.com/live/key" };
    const path = `/api/stream/${stream.id}/create-multistream-target`;
    await kit.call("POST", path, { profile: "source", spec });
    const { grant, start } = await publish();
    const source = (at: number) => ({ ...sourceMeasured(grant, start.sessionId), at });
    await tell(kit.domains, source(now()));
    const record = await health();
    expect(statuses(record)).toMatchObject({ healthy: false, Multistreaming: false });
    expect(record.multistream).toMatchObject([{ target: { name: "elsewhere", profile: "source" }, state: "Pending" }]);
    await kit.call("PATCH", `/api/multistream/target/${record.multistream[0]?.target.id}`, { disabled: true });
    await tell(kit.domains, source(now() + 10));
    expect(statuses(await health())).toMatchObject({ healthy: true, Multistreaming: null });
  });

  it("that are configured count as not connected until they are", async () => {
    await append(state(true), measured(now(), [{ connected: false }]));
    const pending = await health();
    expect(statuses(pending)).toMatchObject({ healthy: false, Multistreaming: false });
    expect(pending.multistream).toMatchObject([{ target, state: "Pending", connected: { status: false } }]);
    await append(told(now() + 10, "multistream.connected"), measured(now() + 20, [{ connected: true }]));
    const online = await health();
    expect(statuses(online)).toMatchObject({ healthy: true, Multistreaming: true });
    expect(online.multistream).toMatchObject([{ state: "Online" }]);
    expect(Object.keys(online.metrics).sort()).toEqual([
      "MediaTimeMillis",
      "MultistreamActiveSec",
      "MultistreamBytes",
      "MultistreamMediaTimeMillis",
    ]);
  });

  it("that failed say why, and whether it is tried again", async () => {
    await append(state(true), told(now(), "multistream.error", { willRetry: true, reason: "timed out" }));
    expect((await health()).multistream).toMatchObject([{ state: "Pending", reason: "timed out" }]);
    await append(told(now(), "multistream.error", { reason: "the key is wrong" }));
    const offline = await health();
    expect(offline.multistream).toMatchObject([{ state: "Offline", reason: "the key is wrong" }]);
    expect(offline.healthy.status).toBe(false);
    await append(state(false));
    expect((await health()).multistream).toMatchObject([{ state: "Idle" }]);
  });

  it("that are removed are asked for no longer", async () => {
    await append(state(true), told(now(), "multistream.error"), told(now(), "multistream.disconnected"));
    expect(statuses(await health())).toMatchObject({ healthy: true, Multistreaming: null });
    await append(told(now(), "multistream.error"), measured(now()));
    expect((await health()).multistream).toEqual([]);
  });
});

describe("whoever reads the log", () => {
  const kinds = fc.oneof(
    { weight: 1, arbitrary: fc.constant({ kind: "state" as const }) },
    {
      weight: 6,
      arbitrary: fc
        .record({ success: fc.boolean(), latencyMs: fc.constantFrom(0, 500, 3000), isClean: fc.boolean() })
        .map((transcode) => ({ kind: "segment" as const, ...transcode })),
    },
    {
      weight: 3,
      arbitrary: fc.option(fc.boolean(), { nil: null }).map((connected) => ({ kind: "measured" as const, connected })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("connected", "error", "disconnected").map((word) => ({ kind: "told" as const, word })),
    },
  );
  const histories = fc.array(fc.tuple(fc.integer({ min: 0, max: 1_000_000 }), kinds, fc.boolean()), {
    minLength: 1,
    maxLength: 60,
  });

  type Made = typeof kinds extends fc.Arbitrary<infer T> ? T : never;

  function eventOf(at: number, made: Made, isActive: boolean) {
    if (made.kind === "state") return state(isActive, at);
    if (made.kind === "segment") return segment(at, { ...made, error: made.isClean ? null : "broken" });
    if (made.kind === "measured") return measured(at, made.connected === null ? [] : [{ connected: made.connected }]);
    return told(at, `multistream.${made.word}`);
  }

  it("has the same record: kept all along, read anew, and applied event by event", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        await sql`delete from event_lifecycle where subject_id = ${stream.id}`.execute(kit.db);
        await sql`delete from event_telemetry where subject_id = ${stream.id}`.execute(kit.db);
        const deps = { db: kit.db, events: log };
        const kept = new HealthViews(deps);
        let at = now();
        let isActive = false;
        for (const [ms, made, isRead] of history) {
          at += ms;
          if (made.kind === "state") isActive = !isActive;
          await append(eventOf(at, made, isActive));
          if (isRead) await kept.of(stream.id);
        }
        const reducer = new HealthReducer(stream.id);
        for (const { event } of await log.since(kit.db, streamSubject(stream.id), 0, 1000)) reducer.apply(event);
        const anew = await new HealthViews(deps).of(stream.id);
        expect(anew).toEqual(reducer.record());
        expect(await kept.of(stream.id)).toEqual(anew);
      }),
      { numRuns: 25 },
    );
  });

  it("reads it once for all who ask at a time", async () => {
    await append(state(true), segment(now(), { success: false }), segment(now() + 1));
    const views = new HealthViews({ db: kit.db, events: log });
    const records = await Promise.all(Array.from({ length: 8 }, () => views.of(stream.id)));
    for (const record of records) expect(conditionOf(record, "Transcoding")?.frequency?.["1m"]).toBe(1 / 2);
  });

  it("keeps no more than a few thousand readings of a condition", () => {
    const reducer = new HealthReducer("s");
    const at = 1_700_000_000_000;
    const base = { id: "", streamId: "s", v: 1 };
    for (let i = 0; i < 20_000; i++)
      reducer.apply({ ...base, timestamp: at + i * 100, ...segment(at, { success: i % 2 === 0 }).body } as StreamEvent);
    const { frequency } = reducer.record().conditions[1] ?? {};
    expect(frequency).toEqual({ "1m": 0.5, "10m": expect.closeTo(0.5, 2), "60m": expect.closeTo(0.5, 2) });
  });
});

it("a stream of somebody else, a deleted one and one that never was are not found", async () => {
  await authorize();
  await kit.call("DELETE", `/api/stream/${stream.id}`);
  for (const id of [stream.id, "nothing", "00000000-0000-4000-8000-000000000000"]) {
    const answer = await kit.call("GET", `/data/stream/${id}/health`);
    expect([answer.statusCode, answer.json()]).toMatchObject([404, { errors: ["stream not found"] }]);
  }
});
