import { afterAll, beforeAll, expect, test } from "vitest";
import { Loopback } from "./support/loopback.ts";

const WINDOW_MS = 20_000;
/** Generous, because the manual clock does not wait for the database. */
const SOON_MS = 60_000;

let weir: Loopback;
beforeAll(async () => {
  weir = await Loopback.start({ WEIR_RECONNECT_WINDOW_MS: String(WINDOW_MS) });
});
afterAll(() => weir[Symbol.asyncDispose]());

test("the session ends if the publisher does not return in time; the next one is a new session", async () => {
  const stream = await weir.createStream();
  using publisher = await weir.publish(stream);
  await weir.untilState(stream, "live", SOON_MS);
  await weir.pass(5_000);
  publisher.drop();
  const droppedAt = weir.clock.now();
  await weir.untilState(stream, "reconnecting", SOON_MS);
  expect((await weir.client.streams.get(stream.id)).isActive).toBe(true);
  const { reconnectUntil = 0 } = (await weir.client.streams.get(stream.id)).status;
  await weir.untilState(stream, "idle", WINDOW_MS + SOON_MS);
  expect(weir.clock.now()).toBeGreaterThan(reconnectUntil);
  expect(Math.abs(reconnectUntil - droppedAt - WINDOW_MS)).toBeLessThan(2_000);
  expect((await weir.client.streams.get(stream.id)).isActive).toBe(false);

  using _next = await weir.publish(stream);
  await weir.untilState(stream, "live", SOON_MS);
  // A session is listed once it has a segment.
  const sessions = async () => (await weir.client.sessions.ofStream(stream.id)).items;
  await weir.until("a second session", async () => (await sessions()).length === 2, SOON_MS);
  expect((await sessions()).map(({ isActive }) => isActive)).toEqual([true, false]);
});

test("a silent publisher with an open connection is lost after five seconds, and live when it continues", async () => {
  const stream = await weir.createStream();
  using publisher = await weir.publish(stream);
  await weir.pass(5_000);
  publisher.isFrozen = true;
  const missed = await weir.untilState(stream, "reconnecting", SOON_MS);
  expect(missed).toBeGreaterThan(4_000);
  publisher.isFrozen = false;
  await weir.untilState(stream, "live", SOON_MS);
  expect((await weir.client.sessions.ofStream(stream.id)).items).toHaveLength(1);
});
