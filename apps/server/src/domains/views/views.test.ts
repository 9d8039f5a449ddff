import type { Stream, TotalViews, Viewership, ViewsNow } from "@weir/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../platform/log.ts";
import type { ViewerCount } from "../../ports/index.ts";
import { addProject, startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { newId, newPlaybackId } from "../ids.ts";
import type { NewViewers } from "../new-viewers.ts";
import { streamSubject } from "../subject.ts";
import { ViewCounter } from "./view-counter.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let kit: TestDomains;
let stream: Stream;
let counter: ViewCounter;
let told: NewViewers[];
beforeAll(async () => {
  kit = await startTestDomains();
});
afterAll(() => kit[Symbol.asyncDispose]());
beforeEach(async () => {
  // A day of its own for each test, at noon.
  kit.clock.stepWall(DAY_MS - ((kit.clock.now() + DAY_MS / 2) % DAY_MS) + DAY_MS);
  stream = (await kit.call("POST", "/api/stream", { name: "stage", creatorId: "ada" })).json();
  told = [];
  const onNewViewers = async (_trx: unknown, viewers: readonly NewViewers[]) => void told.push(...viewers);
  counter = new ViewCounter({ ...kit, log: silentLog, node: kit.domains.node, onNewViewers });
});

async function count(playbackId: string, told: Partial<ViewerCount>): Promise<void> {
  counter.countViewers([{ playbackId, now: 0, begun: told.now ?? 0, watchedMs: 0, newViewers: [], ...told }]);
  await counter.flush();
}

const counts = (playbackId: string, now: number): ViewerCount => ({
  playbackId,
  now,
  begun: now,
  watchedMs: 0,
  newViewers: [],
});

async function get<Answer>(path: string, headers?: Record<string, string>): Promise<Answer> {
  const answer = await kit.call("GET", path, undefined, headers);
  expect([path, answer.statusCode]).toEqual([path, 200]);
  return answer.json();
}

const views = (query: string) => get<Viewership[]>(`/data/views/query?${query}`);
const viewersNow = (query: string) => get<ViewsNow[]>(`/data/views/now?${query}`);
const today = () => `from=${kit.clock.now() - (kit.clock.now() % DAY_MS)}&to=${kit.clock.now() + 1}`;

/** A node beside the first. */
async function addNode(): Promise<{ id: string }> {
  const id = newId();
  await kit.db
    .insertInto("node")
    .values({ id, name: id, region: "local", roles: ["media"], state: "serving" })
    .execute();
  return { id };
}

describe("viewers now", () => {
  it("are those that every node told of last, and nobody once they told of nobody", async () => {
    const other = new ViewCounter({ ...kit, log: silentLog, node: await addNode() });
    await count(stream.playbackId, { now: 3 });
    other.countViewers([{ playbackId: stream.playbackId, now: 4, begun: 4, watchedMs: 0, newViewers: [] }]);
    await other.flush();
    const mine = `playbackId=${stream.playbackId}`;
    expect(await viewersNow(mine)).toEqual([{ viewCount: 7, errorRate: 0 }]);
    await count(stream.playbackId, { now: 0 });
    expect(await viewersNow(mine)).toEqual([{ viewCount: 4, errorRate: 0 }]);
  });

  it("of a node that tells nothing for 30 s count no more, and are forgotten", async () => {
    await count(stream.playbackId, { now: 3 });
    kit.clock.stepWall(30_000);
    expect(await viewersNow(`playbackId=${stream.playbackId}`)).toEqual([{ viewCount: 0, errorRate: 0 }]);
    kit.clock.stepWall(1);
    await kit.domains.housekeeping.tick();
    expect(await kit.db.selectFrom("viewer_count").selectAll().execute()).toEqual([]);
  });

  it("are broken down by what is known of them", async () => {
    const plain = (await kit.call("POST", "/api/stream", { name: "without a creator" })).json<Stream>();
    await count(stream.playbackId, { now: 2 });
    await count(plain.playbackId, { now: 1 });
    expect(await viewersNow("breakdownBy%5B%5D=playbackId&breakdownBy%5B%5D=creatorId")).toEqual([
      { playbackId: stream.playbackId, creatorId: "ada", viewCount: 2, errorRate: 0 },
      { playbackId: plain.playbackId, viewCount: 1, errorRate: 0 },
    ]);
    expect(await viewersNow("creatorId=ada&breakdownBy=creatorId")).toEqual([
      { creatorId: "ada", viewCount: 2, errorRate: 0 },
    ]);
  });

  it("are broken down by device, system, browser and country, and by what is not kept with empty words", async () => {
    const phone = { deviceType: "mobile", os: "iOS", browser: "Safari", country: "FR" };
    counter.countViewers([
      { ...counts(stream.playbackId, 3), audience: phone },
      { ...counts(stream.playbackId, 2), newViewers: ["v1"] },
    ]);
    await counter.flush();
    expect(told).toMatchObject([{ viewerIds: ["v1"] }]);
    const mine = `playbackId=${stream.playbackId}`;
    const by = "breakdownBy=device,os,browser,country,viewerId,geohash";
    expect(await viewersNow(`${mine}&${by}`)).toEqual([
      {
        device: "mobile",
        os: "iOS",
        browser: "Safari",
        country: "FR",
        viewerId: "",
        geohash: "",
        viewCount: 3,
        errorRate: 0,
      },
      { device: "", os: "", browser: "", country: "", viewerId: "", geohash: "", viewCount: 2, errorRate: 0 },
    ]);
    expect(await views(`${mine}&breakdownBy=deviceType&timeStep=day`)).toMatchObject([
      { deviceType: "", viewCount: 2 },
      { deviceType: "mobile", viewCount: 3 },
    ]);
    expect(await viewersNow(mine)).toMatchObject([{ viewCount: 5 }]);
    counter.countViewers([{ ...counts(stream.playbackId, 0), audience: phone }]);
    await counter.flush();
    expect(await viewersNow(mine)).toMatchObject([{ viewCount: 2 }]);
  });

  it.each(["from=1", "to=2", "timeStep=hour", "breakdownBy=shoeSize", "streamId=x"])("%s is 400", async (query) =>
    expect((await kit.call("GET", `/data/views/now?${query}`)).statusCode).toBe(400),
  );
});

describe("views over time", () => {
  it("add up by the hour, and steps gather the hours", async () => {
    const noon = kit.clock.now();
    await count(stream.playbackId, { begun: 2, watchedMs: 90_000 });
    await count(stream.playbackId, { begun: 1, watchedMs: 30_000 });
    kit.clock.stepWall(HOUR_MS);
    await count(stream.playbackId, { begun: 4, watchedMs: 60_000 });
    expect(await views(today())).toEqual([{ viewCount: 7, playtimeMins: 3, errorRate: 0 }]);
    expect(await views(`${today()}&timeStep=hour`)).toEqual([
      { timestamp: noon, viewCount: 3, playtimeMins: 2, errorRate: 0 },
      { timestamp: noon + HOUR_MS, viewCount: 4, playtimeMins: 1, errorRate: 0 },
    ]);
    const day = noon - (noon % DAY_MS);
    expect(await views(`${today()}&timeStep=day&breakdownBy=playbackId`)).toEqual([
      { timestamp: day, playbackId: stream.playbackId, viewCount: 7, playtimeMins: 3, errorRate: 0 },
    ]);
    const until = new Date(noon + HOUR_MS).toISOString();
    expect(await views(`from=${new Date(noon).toISOString()}&to=${until}`)).toMatchObject([{ viewCount: 3 }]);
    for (const step of ["week", "month", "year"])
      expect(await views(`${today()}&timeStep=${step}`)).toMatchObject([
        { viewCount: 7, timestamp: expect.any(Number) },
      ]);
  });

  it("of one stream or asset are found by its id, and another's is 404", async () => {
    await count(stream.playbackId, { begun: 5 });
    for (const path of ["query", "query/creator"])
      expect(await get(`/api/data/views/${path}?streamId=${stream.id}`)).toMatchObject([{ viewCount: 5 }]);
    expect((await kit.call("GET", `/data/views/query?assetId=${newId()}`)).statusCode).toBe(404);
    const { apiKey } = await addProject(kit.db, `viewer-${stream.id}`);
    const strange = { authorization: apiKey };
    expect((await kit.call("GET", `/data/views/query?streamId=${stream.id}`, undefined, strange)).statusCode).toBe(404);
    expect(await get(`/data/views/query?playbackId=${stream.playbackId}`, strange)).toMatchObject([{ viewCount: 0 }]);
  });

  it.each(["", `streamId=${newId()}&assetId=${newId()}`])(
    "a creator's need one thing to be about: %j",
    async (query) => {
      const answer = await kit.call("GET", `/data/views/query/creator?${query}`);
      expect([answer.statusCode, answer.json().errors[0]]).toEqual([400, expect.stringContaining("exactly 1 of")]);
    },
  );

  it.each([
    "from=yesterday",
    "from=2026-01-31",
    "to=-1",
    "from=99999999999999999",
    "from=2&to=1",
    "timeStep=minute",
    "breakdownBy=viewer",
    "breakdownBy=playbackId'--",
    "from=1&from=2",
  ])("%s is 400", async (query) => {
    expect((await kit.call("GET", `/data/views/query?${query}`)).statusCode).toBe(400);
  });

  it("what nobody owns is not counted", async () => {
    await count("zzzz000000000000", { now: 5 });
    expect(await views(today())).toEqual([{ viewCount: 0, playtimeMins: 0, errorRate: 0 }]);
  });

  it("of a recording are not those of its stream, have its creator, and are told in the log of the stream", async () => {
    const { id = "", projectId = "", userId = "" } = stream;
    const owner = { projectId, userId };
    const [session, playbackId] = [newId(), newPlaybackId(newId())];
    await kit.db
      .insertInto("session")
      .values({
        id: session,
        project_id: projectId,
        user_id: userId,
        stream_id: id,
        name: "stage",
        profiles: "[]",
        record: true,
        created_at: 1,
        epoch: 1,
        last_seen: 1,
        recording: "ready",
        recording_playback_id: playbackId,
      })
      .execute();
    await count(stream.playbackId, { now: 3 });
    await count(playbackId, { now: 2, newViewers: ["v1"] });
    expect(told).toEqual([{ playbackId, subject: streamSubject(id), owner, viewerIds: ["v1"] }]);
    expect(await viewersNow(`assetId=${session}`)).toMatchObject([{ viewCount: 2 }]);
    expect(await viewersNow(`streamId=${id}`)).toMatchObject([{ viewCount: 3 }]);
    expect(await views(`assetId=${session}&breakdownBy=creatorId`)).toMatchObject([{ creatorId: "ada", viewCount: 2 }]);
    expect(await views(`playbackId=${playbackId}&streamId=${id}`)).toMatchObject([{ viewCount: 0 }]);
  });

  it("who began is told once it is counted, with the stream", async () => {
    await count(stream.playbackId, { now: 1, newViewers: ["v1"] });
    const owner = { projectId: stream.projectId, userId: stream.userId };
    expect(told).toEqual([
      { playbackId: stream.playbackId, subject: { kind: "stream", id: stream.id }, owner, viewerIds: ["v1"] },
    ]);
  });
});

describe("all views of a playback id", () => {
  const total = (id: string) => get<TotalViews>(`/data/views/query/total/${id}`, {});

  it("are for anybody, and kept by caches for a minute", async () => {
    await count(stream.playbackId, { begun: 2, watchedMs: 60_000 });
    const answer = await kit.call("GET", `/api/data/views/query/total/${stream.playbackId}`, undefined, {});
    expect(answer.headers["cache-control"]).toBe("public, max-age=60, s-maxage=300");
    expect(answer.json()).toEqual({ playbackId: stream.playbackId, viewCount: 2, playtimeMins: 1, legacyViewCount: 0 });
  });

  it("are zeros for what there is not", async () => {
    for (const id of ["zzzz000000000000", "x", "'--"])
      expect(await total(encodeURIComponent(id))).toMatchObject({ viewCount: 0, playtimeMins: 0 });
  });
});

describe("counts while the database does not take them", () => {
  it("add up and are written later, and the newest number of viewers counts", async () => {
    const db = failingOnce(kit.db);
    counter = new ViewCounter({ ...kit, db, log: silentLog, node: kit.domains.node });
    await count(stream.playbackId, { now: 9, begun: 3 });
    expect(await views(`playbackId=${stream.playbackId}`)).toMatchObject([{ viewCount: 0 }]);
    await count(stream.playbackId, { now: 2, begun: 1 });
    expect(await views(`playbackId=${stream.playbackId}`)).toMatchObject([{ viewCount: 4 }]);
    expect(await viewersNow(`playbackId=${stream.playbackId}`)).toMatchObject([{ viewCount: 2 }]);
  });

  function failingOnce(db: TestDomains["db"]): TestDomains["db"] {
    let hasFailed = false;
    return new Proxy(db, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name !== "transaction" || hasFailed) return typeof value === "function" ? value.bind(target) : value;
        hasFailed = true;
        return () => ({ execute: () => Promise.reject(new Error("away")) });
      },
    });
  }
});
