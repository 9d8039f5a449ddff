import { Livepeer } from "livepeer";
import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { startPublisher } from "./support/publisher.ts";

const arena = shareArena();
/** A name used by no other stream of the shared server. */
const CREATOR = "of-the-views";

/** A viewer behind a proxy that names its address. Requests a playlist once per second, like a player, until disposed. */
function watch(url: string, address: string): Disposable {
  const look = async () => {
    const response = await fetch(url, { headers: { "x-forwarded-for": address } });
    await response.arrayBuffer();
  };
  const timer = setInterval(() => void look().catch(() => {}), 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

test("viewers are counted while they watch, and read with the public SDK", async () => {
  const { weir } = arena;
  await using broadcast = await startBroadcast(weir, { stream: { creatorId: CREATOR } });
  const { metrics } = new Livepeer({ apiKey: weir.apiKey, serverURL: `${weir.url}/api` });
  const { playbackId, id: streamId } = broadcast.stream;
  const now = async () => (await metrics.getRealtimeViewership(playbackId)).data?.map(({ viewCount }) => viewCount);
  using _first = watch(broadcast.hlsUrl, "198.51.100.1");
  using _second = watch(broadcast.hlsUrl, "198.51.100.2");
  using _again = watch(broadcast.hlsUrl, "198.51.100.2");
  await expect.poll(now, { timeout: 30_000 }).toEqual([2]);

  const viewership = async () => (await metrics.getViewership({ playbackId })).data;
  await expect.poll(viewership, { timeout: 30_000 }).toMatchObject([{ viewCount: 2 }]);
  const views = async () =>
    (await weir.client.views.query({ playbackId, timeStep: "hour", breakdownBy: ["playbackId"] }))[0];
  // They may have started shortly before they were counted.
  await expect.poll(async () => (await views())?.playtimeMins ?? 0, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(await views()).toMatchObject({ playbackId, viewCount: 2, timestamp: expect.any(Number) });
  const creator = (await metrics.getCreatorViewership({ streamId })).data;
  expect(creator?.map(({ viewCount }) => viewCount)).toEqual([2]);
  expect((await metrics.getPublicViewership(playbackId)).data).toMatchObject({ playbackId, viewCount: 2 });
  const [from, to] = [Date.now() - 3_600_000, Date.now()];
  const { usageMetric } = await metrics.getUsage({ from, to, creatorId: CREATOR });
  expect(usageMetric?.deliveryUsageMins).toBeGreaterThan(0);
});

test("rotating a stream key disconnects its publisher, and the session continues with the new key", async () => {
  const { weir } = arena;
  await using broadcast = await startBroadcast(weir);
  const before = broadcast.publisher;
  const { streamKey = "" } = await weir.client.streams.rotateKey(broadcast.stream.id);
  expect(await before.ended).not.toBe(null);
  await expect(broadcast.publish()).rejects.toThrow();
  expect((await broadcast.now()).isActive).toBe(true);
  expect((await fetch(broadcast.hlsUrl)).status).toBe(200);
  const after = await startPublisher({ url: weir.publishUrl(streamKey) });
  await broadcast.untilState("live");
  expect(await broadcast.sessions()).toHaveLength(1);
  await after.stop();
});
