import { expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { longestTurnMs } from "../../platform/longest-turn-rig.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { Slices } from "../../platform/slices.ts";
import type { RecordedSegment } from "../../ports/index.ts";
import { loadEarlier } from "./earlier-rows.ts";
import { SessionDvr } from "./session-dvr.ts";

const row = (rendition: string, msn: number): RecordedSegment => ({
  ...{
    rendition,
    msn,
    epoch: 1,
    startTicks: msn * 180_000,
    durationTicks: 180_000,
    programDateTimeMs: msn * 2_000,
    discontinuity: false,
  },
  ...{ gap: false, init: "init-00000001.mp4", span: "1-0000000001.m4s", offset: 0, length: 7 },
  track: { kind: "video", codec: "avc", config: "", timescale: 90_000, codecString: "avc1.64001f" },
});

test("while the index cannot be read, rows are not kept from try to try: the spool or the index has them", async () => {
  const clock = new ManualClock();
  const dvr = new SessionDvr({ windowSeconds: 60, startedAtMs: 5, sources: [], isInRecording: async () => false });
  const tries: (readonly RecordedSegment[])[] = [[row("a", 1)], [row("a", 1), row("a", 2)]];
  let answered = 0;
  dvr.awaitEarlier();
  // Viewers who come meanwhile learn that they can go back.
  expect(dvr.sessionData).toEqual({ "weir.dvr": "since=5,seconds=60" });
  const loading = loadEarlier(dvr, {
    ...{ clock, log: silentLog, slices: new Slices(clock), sessionId: "s", signal: new AbortController().signal },
    readSpool: () => [tries[answered] ?? []],
    readStore: async function* () {
      answered++;
      // As the recorder does at any time.
      dvr.recorded([row(answered === 1 ? "forgotten" : "kept", 3)]);
      yield* [];
      if (answered === 1) throw new Error("the database is away");
    },
  });
  const tryAgain = () => {
    clock.advance(250);
    return answered;
  };
  await expect.poll(tryAgain).toBe(2);
  await loading;
  expect([dvr.has("a"), dvr.has("kept"), dvr.has("forgotten")]).toEqual([true, true, false]);
  expect([dvr.listed("a", 1), dvr.listed("a", 2)]).toMatchObject([{ msn: 1 }, { msn: 2 }]);
});

/** A session of 12 hours in four renditions, as the catalogue tells of it. */
async function* twelveHours() {
  for (const rendition of ["source", "audio", "v0", "v1"])
    for (let first = 1; first <= 21_600; first += 1_000) {
      const segments = Array.from({ length: Math.min(1_000, 21_601 - first) }, (_, nth) => row(rendition, first + nth));
      yield { rendition, track: row(rendition, 1).track, segments };
    }
}

test("half a day in four renditions is read, and written for the first time, in turns of less than 20 ms", async () => {
  const turns: number[] = [];
  // A collection of everything in the process may take one of them for longer.
  while (turns.length < 5 && !turns.some((ms) => ms < 20)) {
    const dvr = new SessionDvr({
      windowSeconds: Number.POSITIVE_INFINITY,
      startedAtMs: 0,
      sources: [],
      isInRecording: async () => false,
    });
    const slices = new Slices(systemClock);
    const signal = new AbortController().signal;
    const media = { clock: systemClock, log: silentLog, slices, sessionId: "s", signal };
    turns.push(await longestTurnMs(() => loadEarlier(dvr, { ...media, readSpool: () => [], readStore: twelveHours })));
    expect(dvr.listed("v1", 21_600)).toMatchObject({ msn: 21_600, place: { length: 7 } });
  }
  expect(Math.min(...turns)).toBeLessThan(20);
});

test("what is in the spool and in the store is there once; a rung has its own segment where the store has a gap", async () => {
  const clock = new ManualClock();
  const dvr = new SessionDvr({
    windowSeconds: Number.POSITIVE_INFINITY,
    startedAtMs: 0,
    sources: [],
    isInRecording: async () => false,
  });
  const gap = { ...row("v0", 2), gap: true, init: "", span: "", length: 0 };
  const { track } = gap;
  await loadEarlier(dvr, {
    ...{ clock, log: silentLog, slices: new Slices(clock), sessionId: "s", signal: new AbortController().signal },
    readSpool: () => [[{ ...row("v0", 4), length: 8 }], [row("v0", 2), { ...row("v0", 3), length: 8 }]],
    readStore: () => [
      { rendition: "v0", track, segments: [{ ...row("v0", 1), length: 9 }, gap, { ...row("v0", 3), length: 9 }] },
    ],
  });
  const lengths = [1, 2, 3, 4, 5].map((msn) => dvr.listed("v0", msn)?.place?.length);
  expect(lengths).toEqual([9, 7, 9, 8, undefined]);
});
