import { DEFAULT_PROFILES, type Stream } from "@weir/contract";
import { expect, test } from "vitest";
import { ladderLines } from "./renditions.ts";

const live = (renditions?: object[]): Stream =>
  ({ profiles: DEFAULT_PROFILES.slice(0, 2), status: { state: "live", since: 0, renditions } }) as unknown as Stream;

test("a stream of which the server tells no renditions shows what is set, largest first", () => {
  expect(ladderLines(live()).map(({ name, now }) => [name, now])).toEqual([
    ["360p0", undefined],
    ["240p0", undefined],
  ]);
});

test("each rung has its rendition, and one that is not set comes too", () => {
  const running = { name: "240p0", width: 426, height: 240, state: "running", lagMs: 120 };
  const extra = { name: "900p", width: 1600, height: 900, state: "gap" };
  expect(ladderLines(live([running, extra])).map(({ name, bitrate, now }) => [name, bitrate, now?.state])).toEqual([
    ["900p", undefined, "gap"],
    ["360p0", 800_000, undefined],
    ["240p0", 250_000, "running"],
  ]);
});
