import { afterAll, beforeAll, expect, test } from "vitest";
import { Loopback } from "./support/loopback.ts";

const LOOK_EVERY_MS = 1_000;

let weir: Loopback;
beforeAll(async () => {
  weir = await Loopback.start({ WEIR_TRUSTED_PROXIES: "127.0.0.1", WEIR_RATE_LIMIT: "0" });
});
afterAll(() => weir[Symbol.asyncDispose]());

test("viewers are counted while they watch, have left half a minute after their last request, and stay counted as views", {
  timeout: 60_000,
}, async () => {
  const stream = await weir.createStream();
  const { playbackId } = stream;
  using _publisher = await weir.publish(stream);
  await weir.untilState(stream, "live", 60_000);
  const watching = ["198.51.100.1", "198.51.100.2", "198.51.100.2"];
  const look = async (address: string) =>
    (await fetch(weir.hlsUrl(stream), { headers: { "x-forwarded-for": address } })).arrayBuffer();
  const count = async () => (await weir.client.views.now({ playbackId }))[0]?.viewCount ?? 0;
  const watch = async (ms: number) => {
    for (let watched = 0; watched < ms; watched += LOOK_EVERY_MS) {
      // A response may wait for the manual clock.
      const answers = Promise.all(watching.map(look));
      await weir.pass(LOOK_EVERY_MS);
      await answers;
    }
  };
  await watch(15_000);
  // The database writes at its own pace, which is not that of the manual clock.
  await expect.poll(count, { timeout: 10_000 }).toBe(2);
  const left = await weir.until("both having left", async () => (await count()) === 0, 60_000);
  expect(left).toBeGreaterThan(25_000);
  const [views] = await weir.client.views.query({ playbackId, timeStep: "hour", breakdownBy: ["playbackId"] });
  expect(views).toMatchObject({ playbackId, viewCount: 2 });
  expect(views?.playtimeMins).toBeCloseTo((2 * 15) / 60, 0);
});
