import type { Stream } from "@weir/contract";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startTestDomains, type TestDomains, viewerOf } from "../domain-test-kit.ts";

let kit: TestDomains;
beforeAll(async () => {
  kit = await startTestDomains();
});
afterAll(() => kit[Symbol.asyncDispose]());

let count = 0;
const newSource = () => `https://user:secret@camera.example.com/${count++}.m3u8`;
const hidden = (source: string) => source.replace("user:secret", "***:***");
const read = async (id: string) => (await kit.call("GET", `/api/stream/${id}`)).json<Stream>();
const leaseOf = async (id: string) => (await kit.domains.pullGate.claim(100)).find(({ streamId }) => streamId === id);

async function put(body: Record<string, unknown>, query = ""): Promise<{ status: number; stream: Stream }> {
  const answer = await kit.call("PUT", `/api/stream/pull${query}`, { name: "p", profiles: [], ...body });
  return { status: answer.statusCode, stream: answer.json() };
}

it("a source is created once, then replaced: what the second body does not name is cleared", async () => {
  const source = newSource();
  const first = await put({ pull: { source }, record: true, userTags: { a: "b" }, creatorId: "c" });
  expect(first.status).toBe(201);
  await kit.call("PATCH", `/api/stream/${first.stream.id}`, { suspended: true });
  const second = await put({ name: "new", pull: { source, headers: { "X-Token": "t" } } });
  expect(second.status).toBe(200);
  const { id, playbackId, streamKey } = first.stream;
  expect(second.stream).toMatchObject({ id, playbackId, streamKey, name: "new", record: false, suspended: false });
  expect(second.stream).not.toHaveProperty("userTags");
  expect(second.stream).not.toHaveProperty("creatorId");
});

it("two requests for a new source at once create one stream", async () => {
  const pull = { source: newSource() };
  const answers = await Promise.all([put({ pull }), put({ pull }), put({ pull })]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 201]);
  expect(new Set(answers.map(({ stream }) => stream.id)).size).toBe(1);
});

it("by its creator a stream is replaced if there is one, and none if there are two", async () => {
  const creatorId = "harbour";
  const first = await put({ creatorId, pull: { source: newSource() } }, "?key=creatorId");
  const other = newSource();
  const second = await put({ creatorId, pull: { source: other } }, "?key=creatorId");
  expect([second.status, second.stream.id]).toEqual([200, first.stream.id]);
  expect(second.stream.pull).toEqual({ source: hidden(other) });
  await kit.call("POST", "/api/stream", { name: "s", creatorId });
  expect((await put({ creatorId, pull: { source: other } }, "?key=creatorId")).status).toBe(400);
  expect((await put({ pull: { source: other } }, "?key=name")).status).toBe(400);
});

it("user name, password and headers of a source are in no answer, and no filter finds them", async () => {
  const source = newSource();
  const pull = { source, headers: { Authorization: "Bearer secret" } };
  const { stream } = await put({ pull });
  expect(stream.pull).toEqual({ source: hidden(source), headers: { Authorization: "***" } });
  const list = async (value: string) =>
    (
      await kit.call("GET", `/api/stream?filters=${encodeURIComponent(JSON.stringify([{ id: "pull.source", value }]))}`)
    ).json();
  expect(await list(source)).toEqual([]);
  expect(await list(source.replace("user:secret@", ""))).toMatchObject([{ id: stream.id }]);
  expect((await put({ pull: stream.pull })).status).toBe(400);
  expect((await put({ pull: { source, headers: { Authorization: "***" } } })).status).toBe(400);
});

it.each([
  [
    "srt://camera.example:9000?streamid=secret1&latency=200&passphrase=secret23456",
    "srt://camera.example:9000?streamid=***&latency=200&passphrase=***",
  ],
  ["https://cdn.example.com/a.m3u8?token=secret1&n=1#secret2", "https://cdn.example.com/a.m3u8?token=***&n=***"],
  ["https://cdn.example.com/a.m3u8?secret1", "https://cdn.example.com/a.m3u8?***"],
  ["https://cdn.example.com/a.m3u8#secret1", "https://cdn.example.com/a.m3u8#***"],
  [
    "rtsp://camera.example/live?channel=1&subtype=0&pwd=secret1",
    "rtsp://camera.example/live?channel=1&subtype=0&pwd=***",
  ],
  ["rtmp://server.example/live/secret1?key=secret2", "rtmp://server.example/live/***?key=***"],
  ["RTMPS://server.example/a/b/secret1", "RTMPS://server.example/a/b/***"],
])(
  "the secrets of %s are in no answer, no filter finds them, and hidden ones are not taken for real",
  async (source, shown) => {
    const { stream } = await put({ pull: { source } });
    expect(stream.pull).toEqual({ source: shown });
    expect((await put({ pull: stream.pull })).status).toBe(400);
    const filters = JSON.stringify([{ id: "pull.source", value: source }]);
    expect((await kit.call("GET", `/api/stream?filters=${encodeURIComponent(filters)}`)).json()).toEqual([]);
  },
);

it.each(["rtmp://user:word@server.example/live/a", "rtmp://server.example/live", "rtmp://server.example/live/?a/b"])(
  "%s is no RTMP source",
  async (source) => expect((await put({ pull: { source } })).status).toBe(400),
);

it.each([{ host: "a" }, { "Content-Length": "1" }, { "a b": "c" }, { a: "b\r\nc: d" }])(
  "the headers %j are refused",
  async (headers) => expect((await put({ pull: { source: newSource(), headers } })).status).toBe(400),
);

it("a stream made with a source is pulled only when it is started; one without has none to start", async () => {
  const made = await kit.call("POST", "/api/stream", { name: "s", pull: { source: newSource() } });
  const { id } = made.json<Stream>();
  expect(await leaseOf(id)).toBeUndefined();
  expect((await kit.call("POST", `/api/stream/${id}/start-pull`)).statusCode).toBe(204);
  expect((await read(id)).status.pull).toMatchObject({ state: "waiting" });
  expect(await leaseOf(id)).toMatchObject({ streamId: id });
  const plain = (await kit.call("POST", "/api/stream", { name: "s" })).json<Stream>();
  const refused = await kit.call("POST", `/api/stream/${plain.id}/start-pull`);
  expect([refused.statusCode, refused.json().errors]).toEqual([400, ["stream does not have a pull source"]]);
});

it("one of two nodes pulls a stream; the other does when the first has left", async () => {
  const { stream } = await put({ pull: { source: newSource() } });
  const two = kit.another("two");
  await two.node.join();
  const three = kit.another("three");
  await three.node.join();
  const claims = await Promise.all([two.pullGate.claim(100), three.pullGate.claim(100)]);
  const [first, second] = claims[0].some(({ streamId }) => streamId === stream.id) ? [two, three] : [three, two];
  const mine = (leases: readonly { streamId: string }[]) => leases.filter(({ streamId }) => streamId === stream.id);
  expect(claims.flatMap(mine)).toHaveLength(1);
  const [lease] = mine(await first.pullGate.claim(0)) as Parameters<typeof first.pullGate.source>;
  expect(await first.pullGate.source(lease)).toMatchObject({ streamKey: stream.streamKey });
  expect(await second.pullGate.source(lease)).toBeNull();
  await second.pullGate.report(lease, "ended", null);
  expect(mine(await second.pullGate.claim(100))).toEqual([]);
  await first.node.leave();
  expect(mine(await second.pullGate.claim(100))).toHaveLength(1);
  await second.node.leave();
  await Promise.all([two.close(), three.close()]);
});

it("a terminated pull ends and says so; a report that comes later does not count", async () => {
  const { stream } = await put({ pull: { source: newSource() } });
  const lease = await leaseOf(stream.id);
  if (!lease) throw new Error("there is no lease");
  await kit.domains.pullGate.report(lease, "retrying", "The source answered 500.");
  expect((await read(stream.id)).status.pull).toMatchObject({ state: "retrying", reason: "The source answered 500." });
  expect((await kit.call("DELETE", `/api/stream/${stream.id}/terminate`)).statusCode).toBe(204);
  expect(await leaseOf(stream.id)).toBeUndefined();
  expect(await kit.domains.pullGate.source(lease)).toBeNull();
  await kit.domains.pullGate.report(lease, "retrying", "late");
  expect((await read(stream.id)).status.pull).toMatchObject({
    state: "ended",
    reason: expect.stringContaining("terminated"),
  });
});

it("the same request again leaves a running pull alone; another source, or a start, begins it anew", async () => {
  const creatorId = "same";
  const pull = { source: newSource() };
  const { stream } = await put({ creatorId, pull }, "?key=creatorId");
  const versions = [(await leaseOf(stream.id))?.version];
  await put({ creatorId, pull }, "?key=creatorId");
  versions.push((await leaseOf(stream.id))?.version);
  await put({ creatorId, pull: { source: newSource() } }, "?key=creatorId");
  versions.push((await leaseOf(stream.id))?.version);
  await kit.call("POST", `/api/stream/${stream.id}/start-pull`);
  versions.push((await leaseOf(stream.id))?.version);
  expect(versions).toEqual([1, 1, 2, 3]);
});

it("while somebody else is live on the stream, its source is not connected to", async () => {
  const { stream } = await put({ pull: { source: newSource() } });
  const lease = await leaseOf(stream.id);
  if (!lease) throw new Error("there is no lease");
  const { publishGate, pullGate } = kit.domains;
  const request = { protocol: "rtmp", streamKey: stream.streamKey ?? "", remoteAddress: "192.0.2.1" } as const;
  const decision = await publishGate.authorize(request);
  if (!decision.ok) throw new Error("refused");
  await publishGate.begin(decision.grant, kit.clock.now());
  expect(await pullGate.source(lease)).toBe("busy");
});

describe("a stream that is pulled only while somebody watches", () => {
  const start = async () => (await put({ pull: { source: newSource(), onlyWhileWatched: true } })).stream;
  const isPulled = async (id: string) => (await leaseOf(id))?.isWatched === true;
  /** Resolves when the count is written, a second later. */
  const countOn = async (domains: TestDomains["domains"], playbackId: string, now: number) => {
    domains.eventSink.countViewers([{ playbackId, now, begun: now, newViewers: [], watchedMs: 0 }]);
    kit.clock.advance(1_000);
    const counts = kit.db.selectFrom("viewer_count").select("told_at").where("playback_id", "=", playbackId);
    await vi.waitUntil(async () => {
      const row = await counts.executeTakeFirst();
      return now > 0 ? Number(row?.told_at) === kit.clock.now() : !row;
    });
  };
  /** Its writes are not waited for by whoever asks. */
  const ask = async (id: string) => {
    kit.domains.playbackGate.want(id);
    await vi.waitUntil(async () => await isPulled(id), { timeout: 5_000 });
  };

  it("waits for a viewer, who is told by the gate, and rests when nobody came", async () => {
    const { id, playbackId, pull } = await start();
    expect(pull).toMatchObject({ onlyWhileWatched: true });
    expect(await isPulled(id)).toBe(false);
    expect((await read(id)).status.pull).toMatchObject({ state: "waiting", reason: expect.stringContaining("viewer") });
    const decision = await kit.domains.playbackGate.open(viewerOf(playbackId));
    expect(decision).toMatchObject({ ok: true, content: { streamId: id, onlyWhileWatched: true } });
    expect(await isPulled(id)).toBe(false);
    await ask(id);
    expect((await read(id)).status.pull).toEqual({ state: "waiting", since: kit.clock.now() });
    const lease = await leaseOf(id);
    if (!lease) throw new Error("there is no lease");
    await kit.domains.pullGate.report(lease, "pulling", null);
    kit.clock.advance(59_999);
    await kit.domains.pullGate.claim(0);
    expect((await read(id)).status.pull).toMatchObject({ state: "pulling" });
    kit.clock.advance(1);
    expect((await read(id)).status.pull).toMatchObject({ state: "waiting", since: kit.clock.now() });
  });

  it("goes on while a viewer is counted on any node, and not for long after", async () => {
    const { id, playbackId } = await start();
    await ask(id);
    const other = kit.another("far");
    await other.node.join();
    for (let seconds = 0; seconds < 120; seconds += 5) {
      kit.clock.advance(5_000);
      if (seconds % 10 === 0) await countOn(other, playbackId, 1);
      expect(await isPulled(id)).toBe(true);
    }
    await countOn(other, playbackId, 0);
    let seconds = 0;
    while (seconds < 100 && (await isPulled(id))) {
      kit.clock.advance(5_000);
      seconds += 5;
    }
    expect(seconds).toBeGreaterThanOrEqual(30);
    expect(seconds).toBeLessThanOrEqual(45);
    // Whoever asks first after that is served by any node.
    kit.clock.advance(5_000);
    await other.pullGate.claim(0);
    kit.clock.advance(20_000);
    other.playbackGate.want(id);
    const taken = async () =>
      (await other.pullGate.claim(100)).some((lease) => lease.streamId === id && lease.isWatched);
    await vi.waitUntil(taken, { timeout: 5_000 });
    expect(await leaseOf(id)).toBeUndefined();
    await other.node.leave();
    await other.close();
  });

  it("is not ended because the database was away, and the counts with it; one without viewers is not begun for that", async () => {
    const [watched, left, idle] = [await start(), await start(), await start()];
    const pulled = async () => Promise.all([watched, left, idle].map(({ id }) => isPulled(id)));
    await ask(idle.id);
    const claimFor = async (ms: number) => {
      for (let at = 0; at < ms; at += 5_000) {
        kit.clock.advance(5_000);
        await kit.domains.pullGate.claim(0);
      }
    };
    await claimFor(65_000);
    await ask(watched.id);
    await ask(left.id);
    expect(await pulled()).toEqual([true, true, false]);
    kit.clock.advance(90_000);
    expect(await pulled()).toEqual([true, true, false]);
    await claimFor(10_000);
    await countOn(kit.domains, watched.playbackId, 1);
    await claimFor(25_000);
    expect(await pulled()).toEqual([true, false, false]);
  });

  it("is not wanted where it is not started, however many ask, nor where it needs no viewers", async () => {
    const { id } = await start();
    await kit.call("DELETE", `/api/stream/${id}/terminate`);
    for (let i = 0; i < 1_000; i++) kit.domains.playbackGate.want(id);
    const plain = (await put({ pull: { source: newSource() } })).stream;
    kit.domains.playbackGate.want(plain.id);
    await ask((await start()).id);
    const rows = await kit.db
      .selectFrom("stream")
      .select("pull_watched_until")
      .where("id", "in", [id, plain.id])
      .execute();
    expect(rows.map((row) => Number(row.pull_watched_until))).toEqual([0, 0]);
    expect(await isPulled(plain.id)).toBe(true);
  });
});

it("streams that are suspended or deleted are not pulled", async () => {
  const one = (await put({ pull: { source: newSource() } })).stream;
  const two = (await put({ pull: { source: newSource() } })).stream;
  await kit.call("PATCH", `/api/stream/${one.id}`, { suspended: true });
  await kit.call("DELETE", `/api/stream/${two.id}`);
  expect([await leaseOf(one.id), await leaseOf(two.id)]).toEqual([undefined, undefined]);
  await kit.call("PATCH", `/api/stream/${one.id}`, { suspended: false });
  expect(await leaseOf(one.id)).toBeDefined();
});

it("a patch gives a stream a source, another one, or none; a pull goes on from the new one", async () => {
  const { id } = (await kit.call("POST", "/api/stream", { name: "s" })).json<Stream>();
  const patch = async (pull: unknown) => (await kit.call("PATCH", `/api/stream/${id}`, { pull })).statusCode;
  const [first, second] = [newSource(), newSource()];
  expect(await patch({ source: first })).toBe(204);
  expect(await leaseOf(id)).toBeUndefined();
  expect((await kit.call("POST", `/api/stream/${id}/start-pull`)).statusCode).toBe(204);
  const { version } = (await leaseOf(id)) ?? { version: 0 };
  expect(await patch({ source: first })).toBe(204);
  expect(await leaseOf(id)).toMatchObject({ version });
  expect(await patch({ source: second })).toBe(204);
  expect(await leaseOf(id)).toMatchObject({ version: version + 1 });
  expect(await read(id)).toMatchObject({ pull: { source: hidden(second) }, status: { pull: { state: "waiting" } } });
  expect(await patch({ source: hidden(second) })).toBe(400);
  expect(await patch({ source: "ftp://camera.example.com/a" })).toBe(400);
  expect(await patch(null)).toBe(204);
  expect(await leaseOf(id)).toBeUndefined();
  const { pull, status } = await read(id);
  expect([pull, status.pull]).toEqual([undefined, undefined]);
});

it("a source is tried by a media node, ten times a minute and project, and not at all where it is not called", async () => {
  const attempt = (pull: unknown) => kit.call("POST", "/api/stream/pull/try", pull as Record<string, unknown>);
  const headers = { Authorization: "Bearer secret" };
  const pull = { source: newSource(), headers };
  expect((await attempt({ source: "ftp://camera.example.com/a.ts" })).statusCode).toBe(400);
  expect((await attempt({ source: hidden(newSource()) })).statusCode).toBe(400);
  expect((await attempt({ ...pull, headers: { a: "b".repeat(4_000), b: "c".repeat(4_000) } })).statusCode).toBe(400);
  expect(kit.asked.sources).toEqual([]);
  const answer = await attempt(pull);
  expect([answer.statusCode, answer.json()]).toEqual([200, { tracks: [{ kind: "video", codec: "avc1.640028" }] }]);
  expect(kit.asked.sources).toEqual([{ url: pull.source, headers }]);
  const others = [];
  for (let i = 0; i < 10; i++) others.push((await attempt(pull)).statusCode);
  expect(others).toEqual([...Array(9).fill(200), 429]);
  kit.clock.advance(60_000);
  expect((await attempt(pull)).statusCode).toBe(200);
});
