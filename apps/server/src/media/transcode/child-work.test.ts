import { expect, test } from "vitest";
import { ChildWork } from "./child-work.ts";

/** 25 pictures a second for so long, each given to the child. Returns the sentence about a child that is stuck. */
function feed(work: ChildWork, from: number, to: number, isLoaded = true): string | null {
  for (let now = from; now < to; now += 40) {
    const stuck = work.mediaArrived(now, isLoaded);
    if (stuck) return stuck;
    work.given(now);
  }
  return null;
}

test("the lag is the age of the oldest packet that is not worked off, and grows while nothing is sent", () => {
  const work = new ChildWork(0);
  expect(work.lagMs(0)).toBe(0);
  feed(work, 0, 1000);
  work.reported(10, 5);
  expect(work.lagMs(1000)).toBe(600);
  expect(work.lagMs(9000)).toBe(8600);
  work.reported(25, 9);
  expect([work.lagMs(9000), work.busyMs]).toEqual([0, 9]);
});

test("a packet is overdue by the time that it waited for a loaded child", () => {
  const work = new ChildWork(0);
  feed(work, 0, 3000, false);
  expect([work.lagMs(3000), work.overdueMs(3000)]).toEqual([3000, 0]);
  feed(work, 3000, 4000, true);
  expect([work.lagMs(4000), work.overdueMs(4000)]).toEqual([4000, 1000]);
  work.reported(90, 5);
  expect([work.lagMs(4000), work.overdueMs(4000)]).toEqual([400, 400]);
});

test("a child that reports the same number again and again is stuck after 4 s", () => {
  const work = new ChildWork(0);
  feed(work, 0, 1000);
  work.reported(10, 5);
  const verdicts: (string | null)[] = [];
  for (let now = 1000; now <= 4960; now += 40) {
    work.reported(10, 5);
    verdicts.push(work.mediaArrived(now, true));
  }
  expect(verdicts.pop()).toBe("The transcoder made no progress for 4 s.");
  expect(new Set(verdicts)).toEqual(new Set([null]));
});

test("a child without work is not stuck, however long media is kept from it", () => {
  const work = new ChildWork(0);
  feed(work, 0, 1000);
  work.reported(25, 5);
  for (let now = 1000; now < 60_000; now += 40) expect(work.mediaArrived(now, true)).toBe(null);
});

test("a child that needs three seconds for each packet is slow, not stuck", () => {
  const work = new ChildWork(0);
  for (let at = 0; at < 20; at++) {
    expect(feed(work, at * 3000, (at + 1) * 3000)).toBe(null);
    work.reported(at + 1, 0);
  }
});

test("a child gets twice the time after each failure, and 16 s while it loads", () => {
  expect(feed(new ChildWork(1), 0, 30_000)).toMatch(/ 8 s/);
  expect(feed(new ChildWork(9), 0, 30_000)).toMatch(/ 16 s/);
  expect(feed(new ChildWork(0), 0, 30_000, false)).toMatch(/ 16 s/);
});

test("reports of more than was given, as after a damaged message, leave nothing behind", () => {
  const work = new ChildWork(0);
  feed(work, 0, 400);
  work.reported(99, 0);
  expect(work.lagMs(1000)).toBe(0);
});
