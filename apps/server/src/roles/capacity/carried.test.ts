import { expect, test } from "vitest";
import { carried, type MeasuredCosts, only } from "./carried.ts";
import { NO_COST } from "./server-cost.ts";

const COSTS: MeasuredCosts = {
  idle: { cores: 0.07, mainThread: 0.02, webrtcThread: 0, bytes: 200e6 },
  each: {
    streams: { cores: 0.003, mainThread: 0.0025, webrtcThread: 0, bytes: 7e6, lateMs: 0 },
    ladders: { cores: 0.5, mainThread: 0.01, webrtcThread: 0, bytes: 150e6, lateMs: 0 },
    hlsViewers: { ...NO_COST, cores: 0.0008, mainThread: 0.0008, lateMs: 0.2 },
    whepViewers: { ...NO_COST, cores: 0.003, webrtcThread: 0.0025, lateMs: 0 },
  },
};
const GIB = 2 ** 30;

test("on one core, everything shares it", () => {
  const machine = { cores: 1, bytes: 16 * GIB };
  expect(carried(only("streams"), COSTS, machine)).toMatchObject({ limit: "cores", times: expect.closeTo(300, 0) });
  expect(carried(only("whepViewers"), COSTS, machine)).toMatchObject({ limit: "cores", times: expect.closeTo(300, 0) });
});

test("with more cores, one thread of the server is the limit of streams, and cores are that of ladders", () => {
  const machine = { cores: 8, bytes: 16 * GIB };
  expect(carried(only("streams"), COSTS, machine)).toMatchObject({
    limit: "mainThread",
    times: expect.closeTo(380, 0),
  });
  expect(carried(only("whepViewers"), COSTS, machine)).toMatchObject({
    limit: "webrtcThread",
    times: expect.closeTo(388, 0),
  });
  expect(carried(only("ladders"), COSTS, machine)).toMatchObject({ limit: "cores", times: expect.closeTo(15.4, 1) });
});

test("viewers of one part delay each other, which may be the limit before any core is", () => {
  expect(carried(only("hlsViewers"), COSTS, { cores: 8, bytes: 16 * GIB })).toEqual({ limit: "lateMs", times: 1000 });
});

test("with little memory, memory is the limit", () => {
  expect(carried(only("streams"), COSTS, { cores: 8, bytes: GIB })).toMatchObject({
    limit: "bytes",
    times: expect.closeTo(94, 0),
  });
});

test("a mix needs the sum of what its parts need", () => {
  const mix = { streams: 20, ladders: 4, hlsViewers: 500, whepViewers: 50 };
  const { times, limit } = carried(mix, COSTS, { cores: 4, bytes: 16 * GIB });
  expect(limit).toBe("cores");
  expect(times).toBeCloseTo((4 * 0.97 - 0.07) / (0.06 + 2 + 0.4 + 0.15), 3);
});

test("a machine that the idle server already fills carries nothing", () => {
  expect(carried(only("streams"), COSTS, { cores: 0.05, bytes: GIB }).times).toBe(0);
});
