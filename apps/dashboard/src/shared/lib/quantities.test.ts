import { expect, test } from "vitest";
import { bitrateText, bytesText, clockText, durationText, frameRateText, ratioText, shareText } from "./quantities.ts";

test.each([
  [0, "00:00:00"],
  [-3, "00:00:00"],
  [2530.9, "00:42:10"],
  [360_000, "100:00:00"],
])("%d s on a running clock read %s", (seconds, text) => {
  expect(clockText(seconds)).toBe(text);
});

test.each([
  [0.4, "0 s"],
  [59.6, "1 min"],
  [7200, "2 h"],
  [2530, "42 min 10 s"],
  [7260, "2 h 1 min"],
])("a length of %d s reads %s", (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test.each([
  [0, "0 kbit/s"],
  [62_500, "500 kbit/s"],
  [262_500, "2.1 Mbit/s"],
  [2_500_000, "20 Mbit/s"],
])("%d bytes a second read %s", (rate, text) => {
  expect(bitrateText(rate)).toBe(text);
});

test.each([
  [0, "0 B"],
  [16, "16 B"],
  [12_000, "12 kB"],
  [3_400_000, "3.4 MB"],
  [340_000_000, "340 MB"],
  [1_400_000_000, "1.4 GB"],
])("%d bytes read %s", (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test("a frame rate keeps the digits that it has", () => {
  expect([25, 29.97, 30000 / 1001, 59.9401].map(frameRateText)).toEqual([
    "25 fps",
    "29.97 fps",
    "29.97 fps",
    "59.94 fps",
  ]);
});

test("a ratio is as exact as it matters", () => {
  expect([0.854, 1, 1.44, 12.3].map(ratioText)).toEqual(["0.85×", "1.0×", "1.4×", "12×"]);
});

test("a share is never rounded to all or to nothing", () => {
  expect([0, 0.001, 0.5, 0.999, 1].map(shareText)).toEqual([
    "0\u00a0%",
    "< 1\u00a0%",
    "50\u00a0%",
    "> 99\u00a0%",
    "100\u00a0%",
  ]);
});
