import { expect, test } from "vitest";
import { qualitiesOf } from "./qualities.ts";

test("levels come largest first, each with its place in the list of the player", () => {
  const levels = [
    { height: 240, bitrate: 250_000 },
    { height: 1080, bitrate: 6_000_000 },
    { height: 480, bitrate: 1_600_000 },
  ];
  expect(qualitiesOf(levels).map(({ label, level }) => [label, level])).toEqual([
    ["1080p", 1],
    ["480p", 2],
    ["240p", 0],
  ]);
});

test("levels of one height, and of none, are told apart by bitrate", () => {
  const levels = [
    { height: 0, bitrate: 128_000 },
    { height: 720, bitrate: 1_000_000 },
    { height: 720, bitrate: 3_000_000 },
  ];
  expect(qualitiesOf(levels).map(({ label }) => label)).toEqual([
    "720p · 3.0 Mbit/s",
    "720p · 1.0 Mbit/s",
    "128 kbit/s",
  ]);
});
