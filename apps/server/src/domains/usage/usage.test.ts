import type { Stream, UsageMetric } from "@weir/contract";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { newId, newPlaybackId } from "../ids.ts";
import { streamSubject } from "../subject.ts";
import { addTranscodedTime } from "./usage-store.ts";

const HOUR_MS = 3_600_000;

let kit: TestDomains;
let stream: Stream;
let noon: number;
beforeAll(async () => {
  kit = await startTestDomains();
  kit.clock.stepWall(2 * 24 * HOUR_MS - (kit.clock.now() % (24 * HOUR_MS)) + 12 * HOUR_MS);
  noon = kit.clock.now();
  stream = (await kit.call("POST", "/api/stream", { name: "stage", creatorId: "ada" })).json();
  const { id = "", projectId = "", userId = "" } = stream;
  const owner = { projectId, userId };
  const transcoded = (at: number, seconds: number) => ({ subject: streamSubject(id), owner, at, seconds });
  await kit.db.transaction().execute(async (trx) => {
    await addTranscodedTime(trx, [transcoded(noon, 60), transcoded(noon + 1, 30)]);
    await addTranscodedTime(trx, [transcoded(noon + 2, 30), transcoded(noon + HOUR_MS, 180)]);
  });
  await kit.db
    .insertInto("session")
    .values({
      id: newId(),
      project_id: projectId,
      user_id: userId,
      stream_id: id,
      name: "stage",
      profiles: "[]",
      record: true,
      created_at: noon,
      epoch: 1,
      last_seen: noon,
      source_segments_duration: 300,
      recording: "ready",
      recording_playback_id: newPlaybackId(newId()),
    })
    .execute();
  kit.domains.eventSink.countViewers([
    { playbackId: stream.playbackId, now: 1, begun: 1, watchedMs: 90_000, newViewers: [] },
  ]);
  kit.clock.advance(1_000);
  await vi.waitUntil(async () => (await kit.db.selectFrom("view_hour").selectAll().execute()).length === 1);
  kit.clock.stepWall(2 * HOUR_MS);
});
afterAll(() => kit[Symbol.asyncDispose]());

async function usage<Answer = UsageMetric>(query = ""): Promise<Answer> {
  const answer = await kit.call("GET", `/data/usage/query?${query}`);
  expect([query, answer.statusCode]).toEqual([query, 200]);
  return answer.json();
}

it("is one object of minutes transcoded, delivered and stored", async () => {
  expect(await usage()).toEqual({
    UserID: stream.userId,
    TotalUsageMins: 5,
    DeliveryUsageMins: 1.5,
    StorageUsageMins: 5,
  });
  expect((await kit.call("GET", "/api/data/usage/query")).json()).toEqual(await usage());
});

it("is a list by steps or by creators", async () => {
  const [first, second] = await usage<UsageMetric[]>(`timeStep=hour&to=${noon + 2 * HOUR_MS}`);
  expect(first).toMatchObject({ TimestampMs: noon, TotalUsageMins: 2, DeliveryUsageMins: 1.5, StorageUsageMins: 0 });
  expect(second).toMatchObject({ TimestampMs: noon + HOUR_MS, TotalUsageMins: 3, StorageUsageMins: 5 });
  expect(await usage("breakdownBy%5B%5D=creatorId")).toMatchObject([{ CreatorID: "ada", TotalUsageMins: 5 }]);
});

it("is of a stretch of time and of one creator", async () => {
  expect(await usage(`from=${noon + HOUR_MS}`)).toMatchObject({ TotalUsageMins: 3, DeliveryUsageMins: 0 });
  expect(await usage(`to=${noon}`)).toMatchObject({ TotalUsageMins: 0, StorageUsageMins: 0 });
  expect(await usage("creatorId=somebody")).toMatchObject({ TotalUsageMins: 0, StorageUsageMins: 0 });
});

it.each(["timeStep=week", "breakdownBy=playbackId", "from=yesterday", "from=2&to=1"])("%s is 400", async (query) => {
  expect((await kit.call("GET", `/data/usage/query?${query}`)).statusCode).toBe(400);
});
