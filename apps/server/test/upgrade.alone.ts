import { rm } from "node:fs/promises";
import { signAccessJwt, WeirClient } from "@weir/client";
import type { CreatedSigningKey, Session, Stream, StreamEvent, StreamHealth, Webhook } from "@weir/contract";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startBroadcast } from "./support/broadcast.ts";
import { checkOutPreviousVersion } from "./support/previous-version.ts";
import { startPublisher } from "./support/publisher.ts";
import { recordedSeconds } from "./support/recorded-seconds.ts";
import { type OpenedStoredData, openStoredData } from "./support/stored-data.ts";
import { WeirProcess } from "./support/weir-process.ts";

/** The API responses of the version that stored the data. */
interface Said {
  readonly url: string;
  readonly stream: Stream;
  readonly gated: Stream;
  readonly session: Session;
  readonly webhook: Webhook;
  readonly target: { readonly id: string };
  readonly person: { readonly name: string; readonly password: string };
  readonly apiToken: { readonly id: string; readonly key: string };
  readonly signingKey: CreatedSigningKey;
  readonly events: readonly StreamEvent[];
  readonly health: StreamHealth;
  readonly mp4Bytes: number;
}

let stored: OpenedStoredData<Said>;
let weir: WeirProcess;
let said: Said;

beforeAll(async () => {
  stored = await openStoredData<Said>("0.1.0-ec3ee2e");
  weir = await WeirProcess.start({ dataFolder: stored.dataFolder });
  said = JSON.parse(JSON.stringify(stored.said).replaceAll(stored.said.url, weir.url)) as Said;
});

afterAll(async () => {
  await weir?.[Symbol.asyncDispose]();
  await rm(stored.dataFolder, { recursive: true, force: true });
});

/** Checks that all fields of the old response still exist, at any depth; new ones are allowed. */
function still(before: unknown): unknown {
  if (Array.isArray(before)) return before.map(still);
  if (typeof before !== "object" || before === null) return before;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(before).map(([name, value]) => [name, still(value)])),
  );
}

test("streams, sessions, keys, targets and webhooks of an earlier version are listed unchanged", async () => {
  const { client } = weir;
  expect((await client.streams.list()).items).toEqual(expect.arrayContaining([still(said.stream), still(said.gated)]));
  expect(await client.streams.get(said.stream.id)).toEqual(still(said.stream));
  expect((await client.sessions.ofStream(said.stream.id)).items).toEqual([still(said.session)]);
  const { privateKey: _privateKey, ...key } = said.signingKey;
  expect((await client.signingKeys.list()).items).toEqual([still(key)]);
  // Its status counts calls, and there were more since.
  const { status: _status, ...webhook } = said.webhook;
  expect((await client.webhooks.list()).items).toEqual([still(webhook)]);
  expect((await client.targets.list()).items).toEqual([still(said.target)]);
  const { items: log } = await client.webhooks.logs(said.webhook.id);
  expect(log.map(({ success }) => success)).toEqual([true, true, true]);
});

test("a recording of an earlier version plays, as HLS and as MP4", async () => {
  const { recordingUrl = "", mp4Url = "", sourceSegmentsDuration } = said.session;
  expect(await recordedSeconds(mp4Url)).toBeCloseTo(sourceSegmentsDuration, 0);
  const multivariant = await fetch(recordingUrl).then((answer) => answer.text());
  for (const [, address = ""] of multivariant.matchAll(/^([^#\n]+m3u8)$/gm)) {
    const url = new URL(address, recordingUrl).href;
    const playlist = await fetch(url).then((answer) => answer.text());
    expect(playlist).toMatch(/#EXT-X-ENDLIST\n$/);
    const segments = Array.from(playlist.matchAll(/^(?!#).+$/gm), ([name]) => new URL(name ?? "", url).href);
    expect(segments).toHaveLength(said.session.sourceSegments);
    for (const segment of segments) expect((await fetch(segment)).status).toBe(200);
  }
});

test("events and health of an earlier version are unchanged", async () => {
  const { id, createdAt } = said.stream;
  const told: object[] = [];
  // The id contains the time, which was shifted.
  for await (const { id: _, ...event } of weir.client.streams.events(id, { from: createdAt - 1, to: Date.now() }))
    told.push(event);
  expect(told).toEqual(stored.said.events.map(({ id: _, ...event }) => still(event)));
  const { healthy, conditions } = await weir.client.streams.health(id);
  expect([healthy.status, healthy.lastProbeTime]).toEqual([
    said.health.healthy.status,
    said.health.healthy.lastProbeTime,
  ]);
  const statuses = ({ type, status }: StreamHealth["conditions"][number]) => [type, status];
  expect(conditions.map(statuses)).toEqual(said.health.conditions.map(statuses));
});

test("keys and passwords of an earlier version remain valid", async () => {
  const { privateKey, publicKey } = said.signingKey;
  const { playbackId } = said.gated;
  const jwt = await signAccessJwt({ privateKey, publicKey, playbackId, expiration: "1m" });
  const statusOf = async (url: string) => (await fetch(url)).status;
  expect(await statusOf(`${weir.hlsUrl(playbackId)}?jwt=${jwt}`)).toBe(200);
  expect(await statusOf(weir.hlsUrl(playbackId))).toBe(401);
  const { dashboard } = new WeirClient({ baseUrl: weir.url, maxRetries: 0 });
  await dashboard.logIn({ name: said.person.name, password: said.person.password });
  await expect(dashboard.logIn({ name: said.person.name, password: "wrong horse" })).rejects.toMatchObject({
    status: 401,
  });
  const { streams } = new WeirClient({ baseUrl: weir.url, apiKey: said.apiToken.key, maxRetries: 0 });
  expect(await streams.get(said.stream.id)).toMatchObject({ id: said.stream.id });
  await expect(streams.delete(said.stream.id)).rejects.toMatchObject({ status: 403 });
});

test("a stream key of an earlier version publishes a second session, and views continue to be counted", async () => {
  const publisher = await startPublisher({ url: weir.publishUrl(said.stream.streamKey ?? ""), seconds: 4 });
  expect(await publisher.ended).toBe(null);
  const sessions = async () => (await weir.client.sessions.ofStream(said.stream.id)).items;
  await expect
    .poll(async () => (await sessions()).map(({ recordingStatus }) => recordingStatus), { timeout: 20_000 })
    .toEqual(["ready", "ready"]);
  const [views] = await weir.client.views.query({
    playbackId: said.stream.playbackId,
    timeStep: "hour",
    breakdownBy: ["playbackId"],
  });
  expect(views?.viewCount).toBe(1);
});

const previous = await checkOutPreviousVersion();

test.skipIf(previous === null)("this version opens a data folder of the last release", async () => {
  if (!previous) return;
  onTestFinished(() => rm(previous.root, { recursive: true }));
  const old = await WeirProcess.start({ root: previous.root });
  onTestFinished(() => old[Symbol.asyncDispose]());
  const broadcast = await startBroadcast(old, { seconds: 5, stream: { record: true } });
  await broadcast.publisher.ended;
  const recorded = await broadcast.recorded();
  const before = await broadcast.now();
  expect(await old.stop()).toBe(0);

  await using now = await WeirProcess.start({ dataFolder: old.dataFolder });
  const after = await now.client.streams.get(before.id);
  expect(after).toEqual({ ...after, ...before });
  const session = await now.client.sessions.get(recorded.id);
  expect(session.recordingStatus).toBe("ready");
  expect(await recordedSeconds(session.mp4Url ?? "")).toBeCloseTo(recorded.sourceSegmentsDuration, 0);
});
