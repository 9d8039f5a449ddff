import { DEFAULT_PROFILES, type Stream } from "@weir/contract";
import { expect, test } from "vitest";
import { ladderLines } from "./renditions.ts";

const live = (renditions: Stream["status"]["renditions"] = []): Stream =>
  ({ profiles: DEFAULT_PROFILES.slice(0, 2), status: { state: "live", since: 0, renditions } }) as unknown as Stream;

test("a stream of which the server tells no renditions shows what is set, largest first", () => {
  expect(ladderLines(live()).map(({ name, now }) => [name, now])).toEqual([
    ["360p0", undefined],
    ["240p0", undefined],
  ]);
});

test("each rung has its rendition or is left out, and one that is not set comes too", () => {
  const running = { name: "240p0", width: 426, height: 240, state: "running", lagMs: 120 } as const;
  const extra = { name: "900p", width: 1600, height: 900, state: "gap" } as const;
  expect(
    ladderLines(live([running, extra])).map(({ name, bitrate, now }) => [
      name,
      bitrate,
      now === null ? "left out" : now?.state,
    ]),
  ).toEqual([
    ["900p", undefined, "gap"],
    ["360p0", 800_000, "left out"],
    ["240p0", 250_000, "running"],
  ]);
});
