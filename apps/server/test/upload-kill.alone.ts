import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { uploadThroughKills } from "./support/upload-through-kills.ts";

const arena = openArena();

test("50 MB are uploaded across a kill -9: same hash, and the server never holds the file in memory", async () => {
  const { mostMemory } = await uploadThroughKills(arena.weir, 50, [0.4]);
  expect(mostMemory).toBeLessThan(150 * 1024 * 1024);
});
