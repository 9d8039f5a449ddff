import { expect, test } from "vitest";
import { ManualClock } from "../platform/manual-clock-rig.ts";
import { readConfig } from "./config.ts";
import { openTurn } from "./open-turn.ts";

const BOTH = { WEIR_TURN_URLS: "turn:relay.test:3478", WEIR_TURN_SECRET: "a-shared-secret-of-both" };
const open = (env: Partial<typeof BOTH>) => openTurn(readConfig(env), new ManualClock());

test("TURN servers and their secret are set together, or the start says so", () => {
  expect(open({})).toBe(null);
  expect(open(BOTH)?.iceServer("client").urls).toEqual([BOTH.WEIR_TURN_URLS]);
  for (const [name, value] of Object.entries(BOTH))
    expect(() => open({ [name]: value })).toThrow("WEIR_TURN_URLS and WEIR_TURN_SECRET go together");
});
