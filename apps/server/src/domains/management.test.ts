import type { MultistreamTarget, Session, Stream } from "@weir/contract";
import { laterRoutes } from "@weir/contract";
import { describe, expect, it } from "vitest";
import {
  ended,
  kit,
  now,
  pass,
  publish,
  read,
  readSession,
  sealed,
  segment,
  setUpLiveRig,
  stream,
  tell,
} from "./live-test-rig.ts";
import { sessionFields } from "./sessions/session-store.ts";
import { streamFields } from "./streams/stream-store.ts";

setUpLiveRig();

const get = async <Body>(path: string): Promise<Body> => {
  const answer = await kit.call("GET", path);
  expect([path, answer.statusCode]).toEqual([path, 200]);
  return answer.json();
};
const send = async (method: "POST" | "PATCH" | "DELETE", path: string, body?: unknown) => {
  const answer = await kit.call(method, path, body);
  return [answer.statusCode, answer.body === "" ? null : answer.json().errors];
};
const create = async (body: object = {}): Promise<Stream> =>
  (await kit.call("POST", "/api/stream", { name: "another", ...body })).json();
const filtered = (...filters: { id: string; value: unknown }[]) =>
  `filters=${encodeURIComponent(JSON.stringify(filters))}`;

/** A session with one recorded segment that has ended. */
async function recorded(): Promise<string> {
  const { grant, start } = await publish();
  await tell(kit.domains, segment(grant, start.sessionId, 1), ended(grant, "clean-stop"));
  await tell(kit.domains, sealed(grant, start.sessionId, "source"), sealed(grant, start.sessionId, "audio"));
  return start.sessionId;
}

describe("ways to a stream", () => {
  it("its playback id, its key and its account lead to it", async () => {
    expect(await get(`/api/stream/playback/${stream.playbackId}`)).toEqual(stream);
    expect(await get(`/api/stream/key/${stream.streamKey}`)).toEqual(stream);
    expect(await get<Stream[]>(`/api/stream/user/${stream.userId}?limit=1000`)).toContainEqual(stream);
    expect((await kit.call("GET", `/api/stream/key/${stream.playbackId}`)).statusCode).toBe(404);
  });

  it("info takes every id, and says which one it was", async () => {
    const none = { isPlaybackid: false, isSession: false, isStreamKey: false };
    expect(await get(`/api/stream/${stream.id}/info`)).toEqual({ stream, ...none });
    const sessionId = await recorded();
    const second = await publish();
    const [now, session, latest] = [
      await read(),
      await readSession(sessionId),
      await readSession(second.start.sessionId),
    ];
    expect(await get(`/api/stream/${stream.id}/info`)).toEqual({ stream: now, session: latest, ...none });
    const byPlaybackId = await get(`/api/stream/${stream.playbackId}/info`);
    expect(byPlaybackId).toEqual({ stream: now, session: latest, ...none, isPlaybackid: true });
    const byKey = await get(`/api/stream/${stream.streamKey}/info`);
    expect(byKey).toEqual({ stream: now, session: latest, ...none, isStreamKey: true });
    expect(await get(`/api/stream/${sessionId}/info`)).toEqual({ stream: now, session, ...none, isSession: true });
  });
});

describe("record and suspended by themselves", () => {
  it("record changes while idle, and anything but true and false is 400", async () => {
    const path = `/api/stream/${stream.id}/record`;
    expect(await send("PATCH", path, { record: false })).toEqual([204, null]);
    expect(await read()).toMatchObject({ record: false });
    for (const body of [undefined, {}, { record: "true" }, { record: null }])
      expect(await send("PATCH", path, body)).toEqual([400, ["record must be true or false"]]);
    await publish();
    const refusal = ["cannot change 'record' field while stream is active"];
    expect(await send("PATCH", path, { record: true })).toEqual([400, refusal]);
  });

  it("suspended ends the broadcast, and is missed by name", async () => {
    await publish();
    const path = `/api/stream/${stream.id}/suspended`;
    expect(await send("PATCH", path, {})).toEqual([422, ["missing suspended property"]]);
    expect((await send("PATCH", path, { suspended: "true" }))[0]).toBe(422);
    expect(await send("PATCH", path, { suspended: true })).toEqual([204, null]);
    expect(await read()).toMatchObject({ suspended: true, isActive: false });
    expect(kit.asked.stops).toContainEqual({ streamId: stream.id, why: "suspended" });
    expect(await send("PATCH", path, { suspended: false })).toEqual([204, null]);
    expect(await read()).toMatchObject({ suspended: false });
  });
});

describe("lists", () => {
  const values = { id: crypto.randomUUID(), text: "text", search: "text", int: { gte: 0, lt: 1e15 }, boolean: true };

  /** Ordered both ways by a field, and filtered by a value that one of the records has: only records with that value come. */
  async function expectFilteredAndOrdered(path: string, id: string, kind: keyof typeof values): Promise<void> {
    type Item = Record<string, unknown>;
    const fieldOf = (item: Item): unknown => id.split(".").reduce<unknown>((at, key) => (at as Item)?.[key], item);
    const rising = await get<Item[]>(`${path}?order=${id}-false&count=true`);
    const falling = await get<Item[]>(`${path}?order=${id}-true`);
    expect(rising.length).toBeGreaterThan(1);
    const numbers = (items: Item[]) => items.map(fieldOf).filter((value) => typeof value === "number");
    expect(numbers(rising)).toEqual(numbers(rising).toSorted((a, b) => a - b));
    expect(numbers(falling)).toEqual(numbers(falling).toSorted((a, b) => b - a));
    const one = rising.find((item) => ["string", "number", "boolean"].includes(typeof fieldOf(item)));
    const value = one === undefined ? values[kind] : fieldOf(one);
    const found = await get<Item[]>(`${path}?${filtered({ id, value })}`);
    expect(found.map(fieldOf).filter((each) => each !== value)).toEqual([]);
    if (one) expect(found.map((item) => item.id)).toContain(one.id);
  }

  it.each(Object.entries(streamFields))("streams are filtered and ordered by %s", async (id, { kind }) => {
    await create();
    await expectFilteredAndOrdered("/api/stream", id, kind);
  });

  it.each(Object.entries(sessionFields))("sessions are filtered and ordered by %s", async (id, { kind }) => {
    await recorded();
    await recorded();
    await expectFilteredAndOrdered("/api/session", id, kind);
  });

  it("the fields that clients know are all there", () => {
    const counters = ["sourceSegments", "sourceSegmentsDuration", "transcodedSegments", "transcodedSegmentsDuration"];
    const both = ["id", "name", "lastSeen", "createdAt", "parentId", "projectId", "record", ...counters];
    const ofStreams = ["userId", "creatorId", "pull.source", "isActive", "playbackId", "suspended", "isHealthy"];
    expect(Object.keys(streamFields)).toEqual(expect.arrayContaining([...both, ...ofStreams, "user.email"]));
    const ofSessions = ["sourceBytes", "transcodedBytes", "ingestRate", "outgoingRate", "recordingStatus"];
    expect(Object.keys(sessionFields)).toEqual(expect.arrayContaining([...both, ...ofSessions]));
  });

  it("every operator compares, several together, and the order falls and rises with what is unset at the end", async () => {
    const [a, b, c] = [await create(), await create(), await create()];
    for (const [one, creatorId] of [
      [a, "1"],
      [b, "2"],
    ] as const)
      await kit.call("PATCH", `/api/stream/${one.id}`, { creatorId });
    kit.clock.advance(1);
    const d = await create();
    const mine = { id: "name", value: "ANOTHER" };
    const ids = async (query: string) => (await get<Stream[]>(`/api/stream?limit=1000&${query}`)).map(({ id }) => id);
    const created = (value: unknown) => filtered(mine, { id: "createdAt", value });
    expect(await ids(created({ gt: d.createdAt - 1 }))).toEqual([d.id]);
    expect(await ids(created(d.createdAt))).toEqual([d.id]);
    expect(await ids(created({ gte: d.createdAt, lte: d.createdAt }))).toEqual([d.id]);
    expect(await ids(created({ lt: d.createdAt }))).not.toContain(d.id);
    const names = [a, b, c, d].map(({ id }) => id);
    const ordered = async (order: string) =>
      (await ids(`${filtered(mine)}&order=${order}`)).filter((id) => names.includes(id));
    expect((await ordered("creatorId-true")).slice(0, 2)).toEqual([b.id, a.id]);
    expect((await ordered("creatorId-false")).slice(0, 2)).toEqual([a.id, b.id]);
    expect((await ordered("createdAt-true"))[0]).toBe(d.id);
  });

  it("active, sessionsonly and streamsonly choose", async () => {
    await publish();
    const mine = filtered({ id: "id", value: stream.id });
    for (const [query, n] of [
      ["active=true", 1],
      ["active=false", 1],
      ["streamsonly=1", 1],
      ["sessionsonly=1", 0],
    ] as const)
      expect([query, (await get<Stream[]>(`/api/stream?${query}&${mine}`)).length]).toEqual([query, n]);
    await kit.call("DELETE", `/api/stream/${stream.id}/terminate`);
    expect(await get(`/api/stream?active=1&${mine}`)).toEqual([]);
  });
});

describe("sessions", () => {
  it("a session says by what policy its recording is watched, so that no page has to try", async () => {
    const sessionId = await recorded();
    expect((await readSession(sessionId)).playbackPolicy).toBe(undefined);
    await kit.call("PATCH", `/api/stream/${stream.id}`, { playbackPolicy: { type: "jwt" } });
    const [listed] = await get<Session[]>(`/api/session?parentId=${stream.id}`);
    expect(listed?.playbackPolicy).toEqual({ type: "jwt" });
  });

  it("a recording's addresses are absent until it is ready, unless they are asked for", async () => {
    const sessionId = await recorded();
    const waiting = await readSession(sessionId);
    expect(waiting).toMatchObject({ recordingStatus: "waiting", isHealthy: null, issues: null });
    expect(waiting.recordingUrl).toBeUndefined();
    const forced = await get<Session>(`/api/session/${sessionId}?forceUrl=true`);
    expect(forced.recordingUrl).toMatch(/^http:\/\/weir\.test\/asset\/hls\/[0-9a-z]{16}\/index\.m3u8$/);
    await pass(2_000);
    const ready = await get<Session>(`/api/session/${sessionId}?sourceRecording=true`);
    expect(ready).toMatchObject({ recordingStatus: "ready", recordingUrl: forced.recordingUrl, mp4Url: forced.mp4Url });
    expect(ready.sourceRecordingUrl).toBe(ready.mp4Url);
    const { sourceRecordingUrl: _, ...plain } = ready;
    expect(await get(`/api/session?parentId=${stream.id}`)).toEqual([plain]);
    expect(await get(`/api/stream/sessions/${stream.id}`)).toEqual([plain]);
    expect(await get(`/api/stream/${stream.id}/sessions?record=1`)).toEqual([plain]);
    expect(await get(`/api/stream/${stream.id}/sessions?record=0`)).toEqual([]);
  });

  it("lists of clips are empty where there are none; of unknown things they are 404 with the public text", async () => {
    const { start } = await publish();
    for (const path of [`session/${start.sessionId}`, `stream/${stream.id}`, `stream/${stream.playbackId}`])
      expect(await get(`/api/${path}/clips`)).toEqual([]);
    const unknown = async (path: string) => (await kit.call("GET", path)).json();
    expect(await unknown(`/api/session/${stream.id}/clips`)).toMatchObject({ errors: ["Session not found"] });
    expect(await unknown(`/api/stream/${start.sessionId}/clips`)).toMatchObject({ errors: ["Stream not found"] });
  });
});

describe("multistream targets", () => {
  const url = "rtmp://user:pass@ingest.example.com:1936/live/secret-key";
  const createTarget = async (body: object = { url }): Promise<MultistreamTarget> =>
    (await kit.call("POST", "/api/multistream/target", body)).json();
  const targetsOf = async () => (await read()).multistream.targets.map(({ status: _, ...ref }) => ref);

  it("a target is named after its host, and its address is never shown", async () => {
    const target = await createTarget();
    const { userId, projectId } = stream;
    const { id } = target;
    expect(target).toEqual({
      id,
      name: "ingest.example.com:1936",
      userId,
      projectId,
      disabled: false,
      createdAt: now(),
    });
    expect(await send("PATCH", `/api/multistream/target/${id}`, { name: "x", disabled: true })).toEqual([204, null]);
    expect(await send("PATCH", `/api/multistream/target/${id}`, {})).toEqual([204, null]);
    const changed = { ...target, name: "x", disabled: true };
    expect(await get(`/api/multistream/target/${id}`)).toEqual(changed);
    const list = `/api/multistream/target?count=true&${filtered({ id: "id", value: id })}`;
    expect(await get(list)).toEqual([changed]);
    expect(await get(`${list}&userId=${userId}`)).toEqual([changed]);
    expect(await get(`${list}&userId=somebody`)).toEqual([]);
  });

  it.each([{}, { url: 1 }, { url: "http://example.com" }, { url: "rtmp://" }, { url: "rtmp://[x/" }, { url, id: "x" }])(
    "what is no target is 422: %j",
    async (body) => expect((await send("POST", "/api/multistream/target", body))[0]).toBe(422),
  );

  it("targets are put on a stream and taken off it, each with a profile once; a deleted one is forgotten by streams", async () => {
    const { id } = await createTarget();
    const path = `/api/stream/${stream.id}/create-multistream-target`;
    expect(await send("POST", path, { profile: "source", id })).toEqual([204, null]);
    expect(await send("POST", path, { profile: "720p0", videoOnly: true, slate: true, id })).toEqual([204, null]);
    expect(await send("POST", path, { profile: "source", spec: { url } })).toEqual([204, null]);
    const made = (await targetsOf())[2]?.id ?? "";
    const withMade = { profile: "source", id: made };
    const small = { profile: "720p0", videoOnly: true, slate: true, id };
    expect(await targetsOf()).toEqual([{ profile: "source", id }, small, withMade]);
    const twice = ["multistream target {id,profile} must be unique"];
    expect(await send("POST", path, { profile: "source", id })).toEqual([400, twice]);
    expect((await send("POST", path, { profile: "1080p0", id }))[0]).toBe(400);
    expect((await send("POST", path, { id }))[0]).toBe(422);
    expect(await send("DELETE", `/api/stream/${stream.id}/multistream/${id}?profile=source`)).toEqual([204, null]);
    expect(await targetsOf()).toEqual([small, withMade]);
    expect(await send("DELETE", `/api/multistream/target/${id}`)).toEqual([204, null]);
    expect((await send("DELETE", `/api/multistream/target/${id}`))[0]).toBe(404);
    expect(await targetsOf()).toEqual([withMade]);
    expect(await send("DELETE", `/api/stream/${stream.id}/multistream/${made}`)).toEqual([204, null]);
    expect(await targetsOf()).toEqual([]);
    // Other streams may name it.
    expect(await get(`/api/multistream/target/${made}`)).toMatchObject({ id: made });
    await get(`/api/multistream/target/${made}`);
  });
});

describe("what comes later", () => {
  it.each(laterRoutes)("$method $path needs a key and answers 501 with a sentence", async ({ method, path, what }) => {
    const address = path.replaceAll(/:\w+/g, "x");
    const call = (headers?: Record<string, string>) => kit.call(method as "GET", address, undefined, headers);
    expect((await call({})).statusCode).toBe(401);
    const answer = await call();
    expect([answer.statusCode, answer.json()]).toMatchObject([
      501,
      { errors: [`this server has no ${what} yet`], code: "not-implemented" },
    ]);
  });
});
