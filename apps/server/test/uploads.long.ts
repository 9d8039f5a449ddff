import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { uploadThroughKills } from "./support/upload-through-kills.ts";

const arena = openArena({ isLarge: true });

test("2 GB are uploaded across three kills (-9): same hash, flat memory", async () => {
  const { mostMemory } = await uploadThroughKills(arena.weir, 2_048, [0.2, 0.5, 0.8]);
  expect(mostMemory).toBeLessThan(250 * 1024 * 1024);
});
