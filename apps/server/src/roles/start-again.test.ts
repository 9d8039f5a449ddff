import { expect, it } from "vitest";
import { DatabaseAway } from "../platform/database-away.ts";
import { silentLog } from "../platform/log.ts";
import { ManualClock } from "../platform/manual-clock-rig.ts";
import { startAgainWhileAway } from "./start-again.ts";

function starting(errors: readonly unknown[]) {
  const clock = new ManualClock();
  let starts = 0;
  const start = async () => {
    const error = errors[starts++];
    if (error) throw error;
    return "started";
  };
  const begun = startAgainWhileAway(start, { clock, log: silentLog });
  begun.catch(() => {});
  /** Lets as much time pass as it waits. */
  const settle = async () => {
    for (let second = 0; second < 60; second++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1_000);
    }
    return begun;
  };
  return { settle, starts: () => starts };
}

it("a start during which the database is cut off begins anew, also where it could not leave", async () => {
  const failures = [new DatabaseAway(), new SuppressedError(new Error("could not leave"), new DatabaseAway())];
  const { settle, starts } = starting(failures);
  await expect(settle()).resolves.toBe("started");
  expect(starts()).toBe(3);
});

it("a start that fails for another reason fails at once", async () => {
  const { settle, starts } = starting([new TypeError("broken")]);
  await expect(settle()).rejects.toThrow("broken");
  expect(starts()).toBe(1);
});

it("a database that stays away is told after half a minute", async () => {
  const { settle } = starting(Array.from({ length: 100 }, () => new DatabaseAway()));
  await expect(settle()).rejects.toThrow(/^the database does not answer \(.+\): check DATABASE_URL/);
});
