import { expect, test } from "vitest";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { FactLog } from "../../testing/fake-gates.ts";
import type { ToldViewer } from "./counting-nodes.ts";
import { ViewerCounts, type ViewerNodes } from "./viewer-counts.ts";

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

/** A node that counts, and one that tells it of its viewers until `isAway`. */
function startTwo() {
  const clock = new ManualClock();
  const [atCounter, atOther] = [new FactLog(), new FactLog()];
  const counter = new ViewerCounts(clock, atCounter, 2_000);
  const told: ToldViewer[] = [];
  const state = { isAway: false };
  const nodes: ViewerNodes = {
    of: () => ({ nodeId: "counter", address: "127.0.0.1:1" }),
    refresh: () => {},
    tell: async (_place, viewers) => {
      if (state.isAway) return false;
      told.push(...viewers);
      counter.seeElsewhere(JSON.parse(JSON.stringify(viewers)));
      return true;
    },
  };
  const other = new ViewerCounts(clock, atOther, 2_000, nodes);
  /** A second, in which what was told is answered. */
  const second = async () => {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const of = ({ viewerCounts }: FactLog) => ({
    now: viewerCounts.at(-1)?.now,
    begun: viewerCounts.reduce((sum, { begun }) => sum + begun, 0),
    watchedMs: viewerCounts.reduce((sum, { watchedMs }) => sum + watchedMs, 0),
  });
  return { counter, other, told, state, second, atCounter: () => of(atCounter), atOther: () => of(atOther) };
}

test("a viewer of two nodes is one where they are counted, begun once, with the time that passed and not twice", async () => {
  const { counter, other, told, second, atCounter, atOther } = startTwo();
  const viewers = [counter, other].map((counts) => counts.viewer("playback1", "client", { key: "one" }));
  for (let passed = 0; passed < 60; passed++) {
    const turn = passed % 2;
    const [counts, viewer] = [[counter, other][turn], viewers[turn]];
    if (viewer) counts?.see(viewer);
    await second();
  }
  expect(atCounter()).toMatchObject({ now: 1, begun: 1 });
  expect(atCounter().watchedMs).toBeGreaterThanOrEqual(48_000);
  expect(atCounter().watchedMs).toBeLessThanOrEqual(60_000);
  expect(atOther()).toEqual({ now: undefined, begun: 0, watchedMs: 0 });
  expect(told.map(({ isNew }) => isNew)).toEqual([true, false, false, false, false, false]);
  for (let passed = 0; passed < 50; passed++) await second();
  expect(atCounter().now).toBe(0);
});

test("viewers of whom the counting node takes no word are counted where they are, and are not new when it is back", async () => {
  const { other, state, second, atCounter, atOther } = startTwo();
  const viewer = other.viewer("playback1", "client");
  const watch = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed++) {
      other.see(viewer);
      await second();
    }
  };
  state.isAway = true;
  await watch(20);
  expect(atOther()).toMatchObject({ now: 1, begun: 1 });
  state.isAway = false;
  await watch(20);
  // What the last told is reported with the next look.
  for (let passed = 0; passed < 10; passed++) await second();
  expect(atOther()).toMatchObject({ now: 0, begun: 1 });
  expect(atCounter()).toMatchObject({ now: 1, begun: 0 });
  expect(atOther().watchedMs + atCounter().watchedMs).toBeGreaterThanOrEqual(35_000);
  expect(atOther().watchedMs + atCounter().watchedMs).toBeLessThanOrEqual(40_000);
});
