import type { StreamEvent } from "@weir/contract";
import { expect, test } from "vitest";
import { EventSample } from "./event-sample.ts";

const HOUR_MS = 3_600_000;
const measured = (timestamp: number, viewerCount: number) =>
  ({ type: "media_server_metrics", timestamp, stats: { viewerCount } }) as StreamEvent;
const issue = (timestamp: number) => ({ type: "stream_issue", timestamp }) as StreamEvent;

test("of twelve hours the whole time is kept, with its peak and everything else that happened", () => {
  const sample = new EventSample(12 * HOUR_MS);
  for (let at = 0; at < 12 * HOUR_MS; at += 10_000) {
    sample.add(measured(at, at === 5 * HOUR_MS + 10_000 ? 70 : 3));
    if (at % HOUR_MS === 0) sample.add(issue(at));
  }
  const { events } = sample;
  expect(events.length).toBeLessThan(600);
  expect(events[0]?.timestamp).toBe(0);
  expect(events.at(-1)?.timestamp).toBeGreaterThan(12 * HOUR_MS - 100_000);
  expect(events.filter(({ type }) => type === "stream_issue").length).toBe(12);
  expect(events.filter((event) => event.type === "media_server_metrics" && event.stats.viewerCount === 70).length).toBe(
    1,
  );
});

test("of a short time every measurement is kept", () => {
  const sample = new EventSample(60_000);
  for (let at = 0; at < 60_000; at += 1000) sample.add(measured(at, 1));
  expect(sample.events.length).toBe(60);
});

test("of very many others the newest are kept", () => {
  const sample = new EventSample(60_000);
  sample.add(measured(0, 1));
  for (let at = 1; at <= 1500; at++) sample.add(issue(at));
  expect(sample.events.map(({ timestamp }) => timestamp)).toEqual([
    0,
    ...Array.from({ length: 1000 }, (_, i) => i + 501),
  ]);
});
