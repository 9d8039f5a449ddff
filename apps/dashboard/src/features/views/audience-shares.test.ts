import { expect, test } from "vitest";
import { sharesOf } from "./audience-shares.ts";

const groups = (...counts: [name: string, viewCount: number][]) =>
  counts.map(([name, viewCount]) => ({ name, viewCount }));

test("groups come largest first, each with its share of all views", () => {
  expect(sharesOf("browser", groups(["VLC", 1], ["Safari", 3], ["Opera", 0]))).toEqual([
    { name: "Safari", viewCount: 3, share: 0.75 },
    { name: "VLC", viewCount: 1, share: 0.25 },
  ]);
});

test("countries and devices have names for people, and what the server does not know is called so", () => {
  expect(sharesOf("country", groups(["CH", 2], ["", 1])).map(({ name }) => name)).toEqual(["Switzerland", "Unknown"]);
  expect(sharesOf("deviceType", groups(["tv", 1])).map(({ name }) => name)).toEqual(["TV"]);
});

test("the small groups of many are one", () => {
  const many = groups(...Array.from({ length: 20 }, (_, i): [string, number] => [`Player ${i}`, 20 - i]));
  const shares = sharesOf("browser", many);
  expect([shares.length, shares.at(-1)?.name]).toEqual([9, "Others"]);
  expect(shares.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
});
