import { expect, test } from "vitest";
import { ManualClock } from "../manual-clock-rig.ts";
import { RateLimit } from "./rate-limit.ts";

const clock = new ManualClock();
const limitOf = (quota: number, windowMs = 1_000) => new RateLimit({ clock, quota, windowMs });

test("a name has its quota in each window, and no other name is touched", () => {
  const limit = limitOf(2);
  expect([limit.take("a"), limit.take("a"), limit.take("a"), limit.take("b")].map((one) => one.isAllowed)).toEqual([
    true,
    true,
    false,
    true,
  ]);
  clock.advance(999);
  expect(limit.take("a").isAllowed).toBe(false);
  clock.advance(1);
  expect(limit.take("a")).toEqual({ isAllowed: true, remaining: 1, resetSeconds: 1 });
});

test("what is given back can be taken again, and no more than that", () => {
  const limit = limitOf(1);
  limit.giveBack("a");
  expect([limit.take("a").isAllowed, limit.take("a").isAllowed]).toEqual([true, false]);
  limit.giveBack("a");
  expect([limit.take("a").isAllowed, limit.take("a").isAllowed]).toEqual([true, false]);
});

test("headers tell the policy, what is left, and when to come again", () => {
  const limit = limitOf(1, 60_000);
  expect(limit.headers(limit.take("a"))).toEqual({
    "ratelimit-policy": '"default";q=1;w=60',
    ratelimit: '"default";r=0;t=60',
  });
  clock.advance(18_500);
  expect(limit.headers(limit.take("a"))).toMatchObject({ ratelimit: '"default";r=0;t=42', "retry-after": "42" });
});

test("20,000 names at once push out the first, and those of now are still held to it", () => {
  const limit = limitOf(1);
  for (let name = 0; name < 20_000; name++) limit.take(`${name}`);
  expect([limit.take("19999").isAllowed, limit.take("0").isAllowed]).toEqual([false, true]);
});
