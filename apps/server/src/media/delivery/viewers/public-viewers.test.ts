import { expect, test } from "vitest";
import { Audiences } from "../../../platform/audience/index.ts";
import { ManualClock } from "../../../platform/clock.ts";
import { FactLog } from "../../testing/fake-gates.ts";
import { PublicViewers } from "./public-viewers.ts";
import { ViewerCounts } from "./viewer-counts.ts";

function start() {
  const clock = new ManualClock();
  const log = new FactLog();
  const viewers = new PublicViewers(new ViewerCounts(clock, log, 2_000), new Audiences(null));
  const caller = (userAgent: string, tkn: string | null = "player-1") => ({
    playbackId: "playback1",
    address: "203.0.113.1",
    userAgent,
    tkn,
  });
  const watching = () => {
    clock.advance(10_000);
    return log.viewerCounts.splice(0).at(-1)?.now;
  };
  return { clock, viewers, caller, watching };
}

test("a player that changes its origin stays one viewer, found by segments from its latest origin only", () => {
  const { clock, viewers, caller, watching } = start();
  for (const agent of ["a", "b", "c"]) viewers.begin(caller(agent), false);
  expect(watching()).toBe(1);
  viewers.goOn(caller("c"));
  clock.advance(25_000);
  viewers.goOn(caller("c"));
  expect(watching()).toBe(1);
  for (const agent of ["a", "b"]) viewers.goOn(caller(agent));
  clock.advance(30_000);
  expect(watching()).toBe(0);
});

test("a viewer who used several origins and left is forgotten at all of them", () => {
  const { clock, viewers, caller, watching } = start();
  for (const agent of ["a", "b", "c"]) viewers.begin(caller(agent), false);
  clock.advance(40_000);
  for (const agent of ["a", "b", "c"]) viewers.goOn(caller(agent));
  expect(watching()).toBe(0);
});

test("a player that leaves does not affect another at the same origin", () => {
  const { clock, viewers, caller, watching } = start();
  viewers.begin(caller("a", null), false);
  clock.advance(20_000);
  viewers.begin(caller("a", "player-2"), false);
  clock.advance(20_000);
  viewers.goOn(caller("a", null));
  clock.advance(20_000);
  expect(watching()).toBe(1);
});

test("a client that keeps changing its id is counted up to its limit, can still play, and uses no further memory", () => {
  const { viewers, caller, watching } = start();
  for (let i = 0; i < 5_000; i++) expect(viewers.begin(caller("a", `player-${i}`), false)).not.toBeNull();
  expect(watching()).toBe(2_000);
});

test("a thousand viewers behind one address are all counted", () => {
  const { viewers, caller, watching } = start();
  for (let i = 0; i < 1_000; i++) viewers.begin(caller(`browser-${i % 10}`, `player-${i}`), false);
  expect(watching()).toBe(1_000);
});
