import type { StreamEvent } from "@weir/contract";
import { expect, test, vi } from "vitest";
import { EventFeed, type FeedNews, type FeedStart, MAX_KEPT } from "./event-feed.ts";

const event = (n: number): StreamEvent => ({
  type: "event_gap",
  id: `e${n}`,
  timestamp: n,
  streamId: "s",
  v: 1,
  dropped: 1,
});

/** A log that tells what it has, then nothing until it is aborted. */
function logOf(count: number) {
  const asked: FeedStart[] = [];
  const log = {
    count,
    asked,
    async *open(start: FeedStart, { signal, onConnection }: FeedNews) {
      asked.push(start);
      onConnection(true);
      const first = start.lastEventId === undefined ? (start.from ?? 0) + 1 : Number(start.lastEventId.slice(1)) + 1;
      for (let n = first; n <= log.count; n++) yield event(n);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
  return log;
}

test("what comes together is shown together", async () => {
  const log = logOf(300);
  const feed = new EventFeed(log.open, 0);
  const listener = vi.fn();
  feed.subscribe(listener);
  feed.start();
  feed.start();
  await vi.waitUntil(() => feed.view().events.length > 0);
  feed.stop();
  expect(feed.view().events.map(({ timestamp }) => timestamp)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
  // Connected, and all events.
  expect(listener).toHaveBeenCalledTimes(2);
  expect(log.asked).toEqual([{ from: 0 }]);
});

test("a feed that was stopped goes on after the last event that it has", async () => {
  const log = logOf(2);
  const feed = new EventFeed(log.open, 0);
  feed.start();
  await vi.waitUntil(() => feed.view().events.length === 2);
  feed.stop();
  log.count = 4;
  feed.start();
  await vi.waitUntil(() => feed.view().events.length === 4);
  feed.stop();
  expect(log.asked).toEqual([{ from: 0 }, { lastEventId: "e2" }]);
  expect(feed.view().events.map(({ id }) => id)).toEqual(["e1", "e2", "e3", "e4"]);
});

test("of a long log the newest events are kept", async () => {
  const feed = new EventFeed(logOf(MAX_KEPT + 5).open, 0);
  feed.start();
  await vi.waitUntil(() => feed.view().events.length > 0);
  feed.stop();
  expect(feed.view().events).toHaveLength(MAX_KEPT);
  expect(feed.view().events[0]?.timestamp).toBe(6);
});

test("a feed that is refused says why, and can be tried again", async () => {
  let isRefused = true;
  const log = logOf(1);
  const feed = new EventFeed(async function* (start, news) {
    if (isRefused) throw new Error("no such stream");
    yield* log.open(start, news);
  }, 0);
  feed.start();
  await vi.waitUntil(() => feed.view().error !== null);
  expect(feed.view()).toMatchObject({ isConnected: false, error: { message: "no such stream" } });
  isRefused = false;
  feed.start();
  await vi.waitUntil(() => feed.view().events.length === 1);
  feed.stop();
  expect(feed.view()).toMatchObject({ isConnected: true, error: null });
});

test("a lost connection and missing events are told", async () => {
  const told: FeedNews[] = [];
  const feed = new EventFeed(async function* (start, news) {
    told.push(news);
    yield* logOf(0).open(start, news);
  }, 0);
  feed.start();
  await vi.waitUntil(() => feed.view().isConnected);
  told[0]?.onConnection(false);
  told[0]?.onGap();
  expect(feed.view()).toMatchObject({ isConnected: false, hasGap: true });
  feed.stop();
});
