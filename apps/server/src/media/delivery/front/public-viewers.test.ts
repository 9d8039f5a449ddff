import { expect, test } from "vitest";
import { Audiences } from "../../../platform/audience/index.ts";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { FactLog } from "../../testing/fake-gates.ts";
import type { AccessRequest } from "./access-request.ts";
import { PublicViewers } from "./public-viewers.ts";
import { ViewerCounts } from "./viewer-counts.ts";

function start() {
  const clock = new ManualClock();
  const log = new FactLog();
  const viewers = new PublicViewers(new ViewerCounts(clock, log, 2_000), new Audiences(null));
  const requestOf = (userAgent: string, tkn: string | null, step: AccessRequest["step"]) => {
    const url = tkn === null ? "/" : `/?tkn=${tkn}`;
    const sender = { connection: null, remoteAddress: "203.0.113.1", client: "203.0.113.1", userAgent };
    return { address: { playbackId: "playback1" }, url, step, ...sender } as AccessRequest;
  };
  const playlist = (userAgent: string, tkn: string | null = "player-1") =>
    viewers.count(requestOf(userAgent, tkn, "follow"), false);
  const segment = (userAgent: string) => viewers.count(requestOf(userAgent, null, "media"), false);
  const watching = () => {
    clock.advance(10_000);
    return log.viewerCounts.splice(0).at(-1)?.now;
  };
  return { clock, playlist, segment, watching };
}

test("a player that changes its origin stays one viewer, found by segments from its latest origin only", () => {
  const { clock, playlist, segment, watching } = start();
  for (const agent of ["a", "b", "c"]) playlist(agent);
  expect(watching()).toBe(1);
  segment("c");
  clock.advance(25_000);
  segment("c");
  expect(watching()).toBe(1);
  for (const agent of ["a", "b"]) segment(agent);
  clock.advance(30_000);
  expect(watching()).toBe(0);
});

test("a viewer who used several origins and left is forgotten at all of them", () => {
  const { clock, playlist, segment, watching } = start();
  for (const agent of ["a", "b", "c"]) playlist(agent);
  clock.advance(40_000);
  for (const agent of ["a", "b", "c"]) segment(agent);
  expect(watching()).toBe(0);
});

test("a player that leaves does not affect another at the same origin", () => {
  const { clock, playlist, segment, watching } = start();
  playlist("a", null);
  clock.advance(20_000);
  playlist("a", "player-2");
  clock.advance(20_000);
  segment("a");
  clock.advance(20_000);
  expect(watching()).toBe(1);
});

test("a client that keeps changing its id is counted up to its limit, can still play, and uses no further memory", () => {
  const { playlist, watching } = start();
  for (let i = 0; i < 5_000; i++) expect(playlist("a", `player-${i}`)).toBe(true);
  expect(watching()).toBe(2_000);
});

test("a thousand viewers behind one address are all counted", () => {
  const { playlist, watching } = start();
  for (let i = 0; i < 1_000; i++) playlist(`browser-${i % 10}`, `player-${i}`);
  expect(watching()).toBe(1_000);
});
