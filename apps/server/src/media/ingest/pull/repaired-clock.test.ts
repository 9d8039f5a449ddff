import { expect, it } from "vitest";
import { RepairedClock } from "./repaired-clock.ts";

const SECOND = 90_000;
const HOUR = 3600 * SECOND;
const FRAME = 3_600;
const VIDEO = 0;
const AUDIO = 1;

function rig() {
  const clock = new RepairedClock();
  const take = (dts: number, { trackId = VIDEO, pts = dts } = {}) => clock.repaired({ trackId, dts, pts });
  return { clock, take };
}

it("one frame hours off every five seconds for ten minutes: all times are even, and each repair is counted", () => {
  const { clock, take } = rig();
  let last = -FRAME;
  for (let n = 0; n < 15_000; n++) {
    const isStray = n % 125 === 100;
    const { dts } = take(n * FRAME + (isStray ? 7 * HOUR : 0));
    expect(dts - last).toBe(FRAME);
    last = dts;
    const audio = n * FRAME;
    expect(take(audio, { trackId: AUDIO }).dts).toBe(audio);
  }
  expect(clock.repairs).toBe(120);
});

it("frames that are hours off to either side in turn are never taken for a new clock", () => {
  const { clock, take } = rig();
  take(0);
  take(FRAME);
  for (let n = 2; n < 50; n++) expect(take(n * FRAME + (n % 2 === 0 ? 5 : -5) * HOUR).dts).toBe(n * FRAME);
  expect(clock.repairs).toBe(48);
});

it("a jump that lasts is a new clock from its third frame on, and takes the other tracks along", () => {
  const { clock, take } = rig();
  for (let n = 0; n < 10; n++) {
    take(n * FRAME);
    take(n * FRAME, { trackId: AUDIO });
  }
  const jump = [0, 1, 2, 3].map((n) => take(HOUR + n * FRAME).dts);
  expect(jump).toEqual([10 * FRAME, 11 * FRAME, HOUR + 2 * FRAME, HOUR + 3 * FRAME]);
  expect(take(10 * FRAME, { trackId: AUDIO }).dts).toBe(10 * FRAME);
  expect(take(HOUR + 2 * FRAME, { trackId: AUDIO }).dts).toBe(HOUR + 2 * FRAME);
  expect(take(HOUR + 4 * FRAME).dts).toBe(HOUR + 4 * FRAME);
  expect(clock.repairs).toBe(2);
});

it("a clock that begins again at 0 without a reconnect is followed", () => {
  const { clock, take } = rig();
  take(HOUR);
  take(HOUR + FRAME);
  for (let n = 0; n < 100; n++) take(n * FRAME);
  expect(take(100 * FRAME).dts).toBe(100 * FRAME);
  expect(clock.repairs).toBe(2);
});

it("a track that pauses while the other goes on is no jump", () => {
  const { clock, take } = rig();
  take(0, { trackId: AUDIO });
  for (let n = 0; n < 500; n++) take(n * FRAME);
  expect(take(500 * FRAME, { trackId: AUDIO }).dts).toBe(500 * FRAME);
  expect(clock.repairs).toBe(0);
});

it("a picture shown hours after it is decoded is shown as the one before it", () => {
  const { clock, take } = rig();
  take(0, { pts: 2 * FRAME });
  expect(take(FRAME, { pts: 9 * HOUR })).toMatchObject({ dts: FRAME, pts: 3 * FRAME });
  expect(take(2 * FRAME, { pts: 3 * FRAME })).toMatchObject({ dts: 2 * FRAME, pts: 3 * FRAME });
  expect(clock.repairs).toBe(1);
});

it("a frame every two seconds is a slow source, not a wrong clock", () => {
  const { clock, take } = rig();
  for (let n = 0; n < 20; n++) expect(take(2 * n * SECOND).dts).toBe(2 * n * SECOND);
  expect(clock.repairs).toBe(0);
});
