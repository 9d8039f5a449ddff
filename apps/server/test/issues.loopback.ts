import { afterAll, beforeAll, expect, test } from "vitest";
import { Loopback } from "./support/loopback.ts";

let weir: Loopback;
beforeAll(async () => {
  weir = await Loopback.start({ WEIR_RATE_LIMIT: "0" });
});
afterAll(() => weir[Symbol.asyncDispose]());

test("a bursty source has an unstable bitrate, until it has sent evenly for a while", async () => {
  const stream = await weir.createStream();
  using publisher = await weir.publish(stream);
  await weir.untilState(stream, "live", 60_000);
  const codes = async () => (await weir.client.streams.get(stream.id)).status.issues?.map(({ code }) => code) ?? [];
  // Its first ten seconds do not count.
  await weir.pass(12_000);
  expect(await codes()).toEqual([]);
  publisher.isFrozen = true;
  await weir.pass(4_600);
  publisher.isFrozen = false;
  await weir.pass(1_000);
  // The database writes at its own pace, which is not that of the manual clock.
  await expect.poll(codes).toEqual(["bitrate-unstable"]);
  await weir.pass(25_000);
  await expect.poll(codes).toEqual([]);
});
