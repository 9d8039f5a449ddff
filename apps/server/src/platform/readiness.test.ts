import { expect, test } from "vitest";
import { ManualClock } from "./manual-clock-rig.ts";
import { Readiness } from "./readiness.ts";

test("a failed check is in the way of its purposes alone, a note of none, and draining of all", async () => {
  const readiness = new Readiness(new ManualClock());
  readiness.add("account", () => null);
  readiness.add("database", () => Promise.reject(new Error("away")), ["publish", "api"]);
  readiness.addNote("srt", () => "not installed");
  expect(await readiness.report()).toEqual({
    isReady: false,
    checks: { account: "ok", database: "failed", srt: "not installed" },
  });
  expect((await readiness.report("publish")).isReady).toBe(false);
  expect(await readiness.report("watch")).toEqual({ isReady: true, checks: { account: "ok", srt: "not installed" } });
  readiness.drain();
  expect((await readiness.report("watch")).isReady).toBe(false);
});
