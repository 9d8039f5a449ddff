import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { LiveRendition } from "../packaging/live-rendition.ts";
import { LiveSegment } from "../packaging/live-segment.ts";
import { PageMemory } from "../page-memory.ts";
import { completedUntil } from "./completed-until.ts";

const clock = new ManualClock(0);
const memory = new PageMemory();
const LATE_RUNGS_MS = 3_000;

/** Renditions with segments of 2 s, whose program date-times begin at 0. */
function renditions(...names: string[]) {
  const all = names.map((name) => new LiveRendition(name, 0, { seconds: 2 }, clock));
  const complete = (name: string): void => {
    const rendition = all.find((each) => each.name === name);
    const msn = (rendition?.newestPart?.msn ?? 0) + 1;
    const startTicks = (msn - 1) * 2;
    const place = {
      msn,
      timescale: 1,
      startTicks,
      programDateTimeMs: startTicks * 1000,
      discontinuity: false,
      init: null,
    };
    rendition?.begin(new LiveSegment(place, memory));
    rendition?.publish([new Uint8Array(1)], { durationTicks: 2, lateTicks: 0, frames: 1, isIndependent: true });
    rendition?.complete();
  };
  const waiting = { isOver: false };
  const wait = (untilMs: number) =>
    completedUntil(all, untilMs, clock, LATE_RUNGS_MS).then(() => {
      waiting.isOver = true;
    });
  return { all, complete, waiting, wait };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a rung that is behind the source is waited for", async () => {
  const { complete, waiting, wait } = renditions("source", "audio", "rung-1");
  for (const name of ["source", "audio"]) complete(name);
  void wait(2_000);
  await turn();
  expect(waiting.isOver).toBe(false);
  complete("rung-1");
  await turn();
  expect(waiting.isOver).toBe(true);
});

test("a rung that has stopped is waited for as long as rungs may be late, counted from the end of the source's wait", async () => {
  const { complete, waiting, wait } = renditions("source", "rung-1");
  void wait(2_000);
  clock.advance(LATE_RUNGS_MS);
  complete("source");
  await turn();
  clock.advance(LATE_RUNGS_MS - 1);
  await turn();
  expect(waiting.isOver).toBe(false);
  clock.advance(1);
  await turn();
  expect(waiting.isOver).toBe(true);
});

test("a source that does not reach the moment is waited for 12 s, whatever time of day the clock is set to, and not at all once it has ended", async () => {
  const { waiting, wait } = renditions("source");
  void wait(2_000);
  clock.stepWall(-3_600_000);
  clock.advance(11_999);
  await turn();
  expect(waiting.isOver).toBe(false);
  clock.advance(1);
  await turn();
  expect(waiting.isOver).toBe(true);
  const ended = renditions("source");
  ended.all[0]?.end();
  await ended.wait(2_000);
});
