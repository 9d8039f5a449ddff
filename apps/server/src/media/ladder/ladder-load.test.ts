import { describe, expect, test } from "vitest";
import { FULL_LOAD, type LadderLoad, type LadderLoadInput, nextLadderLoad } from "./ladder-load.ts";

const LARGEST_FIRST = [0, 1, 2];
const late = (now: number): LadderLoadInput => ({ type: "segment", isLate: true, now });
const inTime = (now: number): LadderLoadInput => ({ type: "segment", isLate: false, now });
const cut = (now: number, hasRoom = true): LadderLoadInput => ({ type: "cut", hasRoom, now });
const reduced = (change: Partial<Extract<LadderLoad, { state: "reduced" }>>): LadderLoad => ({
  state: "reduced",
  away: [0],
  late: [],
  trial: null,
  failedTrials: 0,
  returnAt: 10_000,
  roomSince: null,
  ...change,
});
const recovering = (since: number, lates: number, failedTrials = 0): LadderLoad => ({
  state: "recovering",
  trial: { since, late: lates },
  failedTrials,
});
const FIVE_LATE = Array.from({ length: 5 }, () => true);

describe("from each state with each input (docs/lifecycles.md)", () => {
  test.each<[string, LadderLoad, LadderLoadInput, LadderLoad]>([
    ["full: a segment in time", FULL_LOAD, inTime(0), { state: "full", late: [false] }],
    ["full: a late one", FULL_LOAD, late(0), { state: "full", late: [true] }],
    ["full: the sixth late one of ten", { state: "full", late: FIVE_LATE }, late(0), reduced({})],
    ["full: a cut", FULL_LOAD, cut(0), FULL_LOAD],
    [
      "reduced: the sixth late one",
      reduced({ late: FIVE_LATE }),
      late(5_000),
      reduced({ away: [0, 1], returnAt: 15_000 }),
    ],
    ["reduced: a cut with room", reduced({}), cut(5_000), reduced({ roomSince: 5_000 })],
    ["reduced: a cut without", reduced({ roomSince: 5_000 }), cut(6_000, false), reduced({})],
    ["reduced: room for less than 20 s", reduced({ roomSince: 1 }), cut(20_000), reduced({ roomSince: 1 })],
    [
      "reduced: room, but too soon",
      reduced({ roomSince: 0, returnAt: 30_000 }),
      cut(29_999),
      reduced({ roomSince: 0, returnAt: 30_000 }),
    ],
    [
      "reduced: room for 20 s",
      reduced({ away: [0, 1], roomSince: 0 }),
      cut(20_000),
      reduced({ roomSince: 0, trial: { since: 20_000, late: 0 }, returnAt: 30_000 }),
    ],
    ["reduced: room for 20 s for the last", reduced({ roomSince: 0 }), cut(20_000), recovering(20_000, 0)],
    [
      "reduced to nothing: a cut after 10 s",
      reduced({ away: [0, 1, 2] }),
      cut(10_000, false),
      reduced({ away: [0, 1], trial: { since: 10_000, late: 0 }, returnAt: 20_000 }),
    ],
    ["reduced to nothing: a segment", reduced({ away: [0, 1, 2] }), late(0), reduced({ away: [0, 1, 2] })],
    [
      "on trial: a late segment",
      reduced({ trial: { since: 0, late: 0 } }),
      late(1_000),
      reduced({ trial: { since: 0, late: 1 } }),
    ],
    [
      "on trial: a second one",
      reduced({ trial: { since: 0, late: 1 } }),
      late(1_000),
      reduced({ away: [0, 1], failedTrials: 1, returnAt: 21_000 }),
    ],
    ["on trial: for 30 s", reduced({ trial: { since: 0, late: 1 } }), cut(30_000, false), reduced({})],
    ["recovering: a segment in time", recovering(0, 0), inTime(0), recovering(0, 0)],
    ["recovering: a late one", recovering(0, 0), late(0), recovering(0, 1)],
    ["recovering: a second one", recovering(0, 1), late(0), reduced({ failedTrials: 1, returnAt: 20_000 })],
    ["recovering: again and again", recovering(0, 1, 7), late(0), reduced({ failedTrials: 8, returnAt: 30_000 })],
    ["recovering: a cut before 30 s", recovering(0, 1), cut(29_999), recovering(0, 1)],
    ["recovering: a cut after", recovering(0, 1), cut(30_000), FULL_LOAD],
  ])("%s", (_, from, input, to) => {
    expect(nextLadderLoad(from, input, LARGEST_FIRST)).toEqual(to);
  });
});

test("a machine that is late in half of its segments keeps its rungs", () => {
  let load: LadderLoad = FULL_LOAD;
  for (let at = 0; at < 100; at++) load = nextLadderLoad(load, at % 2 ? late(at) : inTime(at), LARGEST_FIRST);
  expect(load.state).toBe("full");
});
