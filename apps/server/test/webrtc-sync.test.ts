import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { lipSyncOf } from "./support/lip-sync.ts";

const arena = shareArena();

test.each([
  ["forwarded", 0],
  ["re-encoded", 2],
] as const)(
  "a WHEP viewer can play flash and beep together, by sender reports, where the video is %s",
  async (_, bFrames) => {
    const worstMs = await lipSyncOf(arena.weir, bFrames);
    expect(Math.abs(worstMs)).toBeLessThanOrEqual(40);
  },
);
