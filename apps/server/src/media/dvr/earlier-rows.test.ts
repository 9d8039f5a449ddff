import { expect, test } from "vitest";
import { silentLog } from "../../platform/log.ts";
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
  const dvr = new SessionDvr({ windowSeconds: 60, sources: [] });
  const tries: (readonly RecordedSegment[])[] = [[row("a", 1)], [row("a", 1), row("a", 2)]];
  let answered = 0;
  const loading = loadEarlier(dvr, {
    ...{ clock, log: silentLog, slices: new Slices(clock), sessionId: "s", signal: new AbortController().signal },
    readSpool: async () => tries[answered] ?? [],
    readIndex: async () => {
      answered++;
      // As the recorder does at any time.
      dvr.recorded([row(answered === 1 ? "forgotten" : "kept", 3)]);
      if (answered === 1) throw new Error("the database is away");
      return null;
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
