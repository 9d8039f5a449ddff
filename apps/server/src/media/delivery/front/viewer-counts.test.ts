import { expect, test } from "vitest";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { FactLog } from "../../testing/fake-gates.ts";
import { ViewerCounts } from "./viewer-counts.ts";

function start() {
  const clock = new ManualClock();
  const log = new FactLog();
  const counts = new ViewerCounts(clock, log, 2_000);
  return { clock, counts, told: () => log.viewerCounts.splice(0) };
}

test("a viewer with continued requests is counted as new once, as watching, and with the time between requests", () => {
  const { clock, counts, told } = start();
  const viewer = counts.viewer("playback1", "client");
  for (let second = 0; second < 10; second++) {
    counts.see(viewer);
    clock.advance(1000);
  }
  expect(told()).toEqual([{ playbackId: "playback1", now: 1, begun: 1, newViewers: [viewer.id], watchedMs: 9000 }]);
  counts.see(viewer);
  clock.advance(10_000);
  expect(told()).toEqual([{ playbackId: "playback1", now: 1, begun: 0, newViewers: [], watchedMs: 1000 }]);
});

test("a viewer without requests for thirty seconds has left; zero viewers are reported once", () => {
  const { clock, counts, told } = start();
  const left: string[] = [];
  const viewer = counts.viewer("playback1", "client", { onLeft: () => left.push("left") });
  counts.see(viewer);
  clock.advance(30_000);
  expect(told().map(({ now }) => now)).toEqual([1, 1, 1]);
  expect(left).toEqual([]);
  clock.advance(10_000);
  expect(told()).toEqual([{ playbackId: "playback1", now: 0, begun: 0, newViewers: [], watchedMs: 0 }]);
  expect(left).toEqual(["left"]);
  clock.advance(60_000);
  expect(told()).toEqual([]);
});

test("audiences of a playback id are counted separately, at most 250 per hour", () => {
  const { clock, counts, told } = start();
  const audienceOf = (country: string) => ({ deviceType: "", os: "", browser: "", country });
  const french = audienceOf("FR");
  for (const audience of [french, french, undefined]) counts.see(counts.viewer("playback1", "client", { audience }));
  clock.advance(10_000);
  expect(told()).toMatchObject([{ now: 2, audience: french }, { now: 1 }]);
  const apart = new Set<string>();
  let begun = 0;
  const come = (countries: number) => {
    const audiences = Array.from({ length: countries }, (_, n) => audienceOf(`${apart.size} ${n}`));
    for (const audience of audiences) counts.see(counts.viewer("playback1", "client", { audience }));
    clock.advance(60_000);
    for (const count of told()) {
      begun += count.begun;
      if (count.begun > 0 && count.audience) apart.add(count.audience.country);
    }
  };
  for (let round = 0; round < 4; round++) come(100);
  expect([apart.size, begun]).toEqual([249, 400]);
  clock.advance(3_600_000);
  come(100);
  expect([apart.size, begun]).toEqual([349, 500]);
});

test("a returning viewer watches again and is not new", () => {
  const { clock, counts, told } = start();
  const viewer = counts.viewer("playback1", "client");
  counts.see(viewer);
  clock.advance(50_000);
  told();
  counts.see(viewer);
  clock.advance(10_000);
  expect(told()).toEqual([{ playbackId: "playback1", now: 1, begun: 0, newViewers: [], watchedMs: 0 }]);
});

test("a viewer who started on another node is not new", () => {
  const { clock, counts, told } = start();
  counts.see(counts.viewer("playback1", "client", { id: "of-old" }));
  clock.advance(10_000);
  expect(told()).toMatchObject([{ now: 1, begun: 0 }]);
});

test("at most a thousand new viewers are named, but all are counted", () => {
  const { clock, counts, told } = start();
  for (let i = 0; i < 1200; i++) counts.see(counts.viewer("playback1", "client"));
  clock.advance(10_000);
  const [count] = told();
  expect([count?.begun, count?.now, count?.newViewers.length]).toEqual([1200, 1200, 1000]);
});

test("close counts everyone as gone and reports it", () => {
  const { clock, counts, told } = start();
  const viewer = counts.viewer("playback1", "client");
  counts.see(viewer);
  clock.advance(4000);
  counts.see(viewer);
  counts.close();
  expect(told()).toEqual([{ playbackId: "playback1", now: 0, begun: 1, newViewers: [viewer.id], watchedMs: 4000 }]);
});

test("concurrent viewers per client are limited; other clients are not affected", () => {
  const { clock, counts, told } = start();
  for (let i = 0; i < 2_500; i++) counts.see(counts.viewer("playback1", "attacker"));
  counts.see(counts.viewer("playback1", "another"));
  clock.advance(10_000);
  expect(told()).toMatchObject([{ now: 2_001, begun: 2_001 }]);
});

test("new viewers per client and minute are limited, however soon they leave, and uncounted ones are counted later", () => {
  const { clock, counts, told } = start();
  for (let i = 0; i < 2_000; i++) counts.see(counts.viewer("playback1", "attacker"));
  clock.advance(50_000);
  told();
  const late = counts.viewer("playback1", "attacker");
  counts.see(late);
  expect(late.tally).toBeNull();
  clock.advance(10_000);
  expect(told()).toEqual([]);
  counts.see(late);
  clock.advance(10_000);
  expect(told()).toMatchObject([{ now: 1, begun: 1, newViewers: [late.id] }]);
});
