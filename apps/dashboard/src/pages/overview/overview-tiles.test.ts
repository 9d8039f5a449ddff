import { expect, test } from "vitest";
import { figuresOf } from "./overview-tiles.ts";

const OVERVIEW = {
  streams: { total: 12, live: 3, unhealthy: 1, outgoingRate: 250_000 },
  webhooks: { total: 2, failing: 1, paused: 0 },
  disk: { freeBytes: 25e9, totalBytes: 100e9 },
};

test("figures have a unit, and what they are a part of", () => {
  const transcoding = { usedCores: 0.5, totalCores: 2 };
  const figures = figuresOf({ ...OVERVIEW, transcoding }, 1234, [0, 2, 5]);
  expect(figures.map(({ name, value, hint }) => [name, value, hint])).toEqual([
    ["Live now", "3", "of 12 streams"],
    ["Viewers now", "1,234", "7 views in 24 hours"],
    ["Sent to viewers", "2.0 Mbit/s", undefined],
    ["Unhealthy", "1", undefined],
    ["Failing webhooks", "1", "of 2 webhooks"],
    ["Free disk space", "25.0 GB", "of 100.0 GB"],
    ["Transcoding", "25\u00a0%", "0.5 of 2.0 cores"],
  ]);
  expect(figures.map(({ used }) => used)).toEqual([...Array(5).fill(undefined), 0.75, 0.25]);
  expect(figures.map(({ to }) => to)).toEqual([
    "/streams?state=active",
    "/usage",
    "/streams/wall",
    "/streams?state=unhealthy",
    "/webhooks",
    "/sessions",
    undefined,
  ]);
});

test("without media in this process there is no transcoding, and without an answer no viewers", () => {
  const figures = figuresOf(OVERVIEW, undefined, undefined);
  expect([figures.length, figures[1]?.value]).toEqual([6, "—"]);
});
