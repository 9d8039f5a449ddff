import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { silentLog } from "../../../platform/log.ts";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { Slices } from "../../../platform/slices.ts";
import { LiveRendition } from "../../packaging/live-rendition.ts";
import { furthestMsn, PlaylistWaits } from "./playlist-waits.ts";

function request() {
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  const address = { playbackId: "play", protocol: "hls", token: null, step: "follow" } as const;
  return { res, address, client: "203.0.113.1" };
}

const live = { goesBack: false };

test("an answer that fails ends its own connection; the others are answered, and their slots are free", () => {
  const clock = new ManualClock();
  const waits = new PlaylistWaits(clock, new Slices(clock), silentLog);
  const rendition = new LiveRendition("source", 0, { seconds: 2 }, clock);
  const answered: number[] = [];
  let isMet = false;
  const responses = [0, 1, 2].map((viewer) => {
    const asked = request();
    const done = () => {
      if (viewer === 0) throw new Error("a playlist that cannot be rendered");
      answered.push(viewer);
    };
    waits.until(rendition, { ...live, asked, isMet: () => isMet, done, full: () => expect.fail() });
    return asked.res;
  });
  expect(waits.count).toBe(3);
  isMet = true;
  clock.advance(250);
  expect(answered).toEqual([1, 2]);
  expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  expect(waits.count).toBe(0);
});

test("a request is answered once nothing was published for as long as it allows, and after three target durations at the latest", async () => {
  const clock = new ManualClock();
  const waits = new PlaylistWaits(clock, new Slices(clock), silentLog);
  const rendition = new LiveRendition("source", 0, { seconds: 2 }, clock);
  const answered: string[] = [];
  const wait = (name: string, quietMs?: number) => {
    const done = () => answered.push(name);
    waits.until(rendition, { ...live, asked: request(), full: () => expect.fail(), isMet: () => false, done, quietMs });
  };
  wait("part");
  wait("list", 1000);
  // Something else is published each half second.
  for (let msn = 1; msn <= 4; msn++) {
    clock.advance(500);
    rendition.expect(msn);
    await Promise.resolve();
  }
  expect(answered).toEqual([]);
  clock.advance(1000);
  expect(answered).toEqual(["list"]);
  wait("next list", 1000);
  clock.advance(750);
  expect(answered).toEqual(["list"]);
  clock.advance(250);
  expect(answered).toEqual(["list", "next list"]);
  clock.advance(2000);
  expect(answered).toEqual(["list", "next list", "part"]);
});

test("of long segments a request is answered after 9 s, before hls.js gives up", () => {
  const clock = new ManualClock();
  const waits = new PlaylistWaits(clock, new Slices(clock), silentLog);
  const rendition = new LiveRendition("source", 0, { seconds: 4 }, clock);
  let isAnswered = false;
  const done = () => {
    isAnswered = true;
  };
  waits.until(rendition, { ...live, asked: request(), isMet: () => false, done, full: () => expect.fail() });
  clock.advance(8_750);
  expect(isAnswered).toBe(false);
  clock.advance(250);
  expect(isAnswered).toBe(true);
});

test("viewers at the live edge are answered before those who go back, and what is not answered within 5 ms has later turns", async () => {
  const clock = new ManualClock();
  const waits = new PlaylistWaits(clock, new Slices(clock), silentLog);
  const rendition = new LiveRendition("source", 0, { seconds: 2 }, clock);
  const answered: boolean[] = [];
  let isMet = false;
  for (let viewer = 0; viewer < 64; viewer++) {
    const goesBack = viewer % 2 === 0;
    const done = () => {
      clock.advance(0.5);
      answered.push(goesBack);
    };
    waits.until(rendition, { goesBack, asked: request(), isMet: () => isMet, done, full: () => expect.fail() });
  }
  isMet = true;
  clock.advance(250);
  expect(answered).toEqual(new Array(16).fill(false));
  expect(waits.count).toBe(48);
  await expect.poll(() => answered.length).toBe(64);
  expect(answered).toEqual([...new Array(32).fill(false), ...new Array(32).fill(true)]);
  expect(waits.count).toBe(0);
});

test("players who go on with the numbers of before a restart are not refused while a rung has nothing yet", () => {
  const rendition = new LiveRendition("v0", 0, { seconds: 2 }, new ManualClock());
  expect(furthestMsn(rendition)).toBeGreaterThanOrEqual(5001);
  rendition.expect(5001);
  expect(furthestMsn(rendition)).toBe(5003);
});
