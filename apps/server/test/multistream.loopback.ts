import type { EventPage, Stream } from "@weir/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RtmpTestServer } from "../src/media/ingest/rtmp/rtmp-test-server.ts";
import { Loopback } from "./support/loopback.ts";
import { PRESET_API_KEY } from "./support/weir-server.ts";

/** Generous, because the manual clock does not wait for the database. */
const SOON_MS = 120_000;

let weir: Loopback;
beforeAll(async () => {
  weir = await Loopback.start({ WEIR_ALLOW_PRIVATE_URLS: "1" });
});
afterAll(() => weir[Symbol.asyncDispose]());

const specOf = (port: number, key = "Right-Key") => ({
  name: "Elsewhere",
  url: `rtmp://127.0.0.1:${port}/live/${key}`,
});
const targetOf = async ({ id }: Stream) => (await weir.client.streams.get(id)).multistream.targets[0];

const untilTarget = (stream: Stream, state: string, withinMs = SOON_MS) =>
  weir.until(`the target being ${state}`, async () => (await targetOf(stream))?.status.state === state, withinMs);

async function eventsOf({ id }: Stream): Promise<unknown[]> {
  const headers = { authorization: `Bearer ${PRESET_API_KEY}`, accept: "application/json" };
  const response = await fetch(`${weir.url}/data/stream/${id}/events?from=${Date.UTC(2029, 0, 1)}`, { headers });
  const { events } = (await response.json()) as EventPage;
  return events.flatMap((event) =>
    event.type === "webhook_event" && event.event.startsWith("multistream.") ? [[event.event, event.payload]] : [],
  );
}

test("a target that is killed and comes back is Online, Pending and Online, and the log says so", async () => {
  const target = await RtmpTestServer.start();
  const stream = await weir.createStream({
    multistream: { targets: [{ profile: "source", spec: specOf(target.port) }] },
  });
  using _publisher = await weir.publish(stream);
  await untilTarget(stream, "Online");
  expect((await weir.client.streams.get(stream.id)).isHealthy).toBe(true);
  expect((await weir.client.streams.health(stream.id)).multistream).toMatchObject([{ state: "Online" }]);

  await target[Symbol.asyncDispose]();
  await untilTarget(stream, "Pending");
  const isUnhealthy = async () => (await weir.client.streams.get(stream.id)).isHealthy === false;
  await weir.until("an unhealthy stream", isUnhealthy, SOON_MS);
  await using again = await RtmpTestServer.start({ port: target.port });
  await untilTarget(stream, "Online");
  expect(again.publication.tracks.map(({ kind }) => kind)).toEqual(["video", "audio"]);

  const { id } = (await targetOf(stream)) ?? {};
  const named = { target: { id, name: "Elsewhere", profile: "source" } };
  const reason = "The target closed the connection.";
  expect(await eventsOf(stream)).toEqual([
    ["multistream.connected", named],
    ["multistream.error", { ...named, reason, willRetry: true }],
    ["multistream.connected", named],
  ]);
});

test("a wrong key is Offline after ten attempts, with the target's reason; a valid one added meanwhile is Online", async () => {
  await using target = await RtmpTestServer.start();
  const wrong = specOf(target.port, "wrong-secret-key");
  const stream = await weir.createStream({ multistream: { targets: [{ profile: "source", spec: wrong }] } });
  using _publisher = await weir.publish(stream);
  // The target responds slowly to wrong keys.
  const isOffline = async () => {
    target.clock.advance(600);
    return (await targetOf(stream))?.status.state === "Offline";
  };
  await weir.until("the target being Offline", isOffline, 10 * SOON_MS);
  expect(target.asked).toHaveLength(10);
  const { status } = (await targetOf(stream)) ?? {};
  expect(status?.reason).toMatch(/^The target refused the stream: /);

  const [refused] = (await weir.client.streams.get(stream.id)).multistream.targets;
  const added = { profile: "source", spec: specOf(target.port) };
  await weir.client.streams.patch(stream.id, { multistream: { targets: [added, ...(refused ? [refused] : [])] } });
  await untilTarget(stream, "Online");
  const now = await weir.client.streams.get(stream.id);
  expect(now.multistream.targets.map((one) => one.status.state)).toEqual(["Online", "Offline"]);
  expect(JSON.stringify([now, await eventsOf(stream)])).not.toMatch(/secret-key|Right-Key/);
});
