import { expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { UNCONFINED } from "../../platform/confinement/confinement.ts";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { chooseEncoder } from "./encoder-probe.ts";

test("x264 is chosen without a probe", async () => {
  expect(await chooseEncoder("x264", new ManualClock(), silentLog, UNCONFINED)).toBe("libx264");
});

test("whatever hardware there is, an encoder is found", async () => {
  expect(["libx264", "h264_nvenc", "h264_qsv"]).toContain(
    await chooseEncoder("auto", systemClock, silentLog, UNCONFINED),
  );
});

test("a probe that takes too long is ended, and x264 is left", async () => {
  const clock = new ManualClock();
  const chosen = chooseEncoder("nvenc", clock, silentLog, UNCONFINED);
  clock.advance(15_000);
  expect(await chosen).toBe("libx264");
});
