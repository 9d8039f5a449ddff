import { expect, test } from "vitest";
import { ManualClock } from "../../platform/clock.ts";
import { KeptStills } from "./kept-stills.ts";

const IMAGE = Uint8Array.of(1);

test("concurrent requests share one computation; an image that is too old is made again", async () => {
  const clock = new ManualClock(0);
  const stills = new KeptStills(clock);
  let made = 0;
  const make = async () => {
    made++;
    return IMAGE;
  };
  const images = await Promise.all(Array.from({ length: 50 }, () => stills.get("a", 5_000, make)));
  expect([new Set(images).size, made]).toEqual([1, 1]);
  clock.advance(4_999);
  await stills.get("a", 5_000, make);
  expect(made).toBe(1);
  clock.advance(1);
  await stills.get("a", 5_000, make);
  expect(made).toBe(2);
});

test("a missing image is retried after 2 s, a rejected one immediately", async () => {
  const clock = new ManualClock(0);
  const stills = new KeptStills(clock);
  let tries = 0;
  const none = async () => {
    tries++;
    return null;
  };
  const forever = Number.POSITIVE_INFINITY;
  await stills.get("a", forever, none);
  clock.advance(1_999);
  expect(await stills.get("a", forever, none)).toBeNull();
  expect(tries).toBe(1);
  clock.advance(1);
  expect(await stills.get("a", forever, async () => IMAGE)).toBe(IMAGE);
  const fails = () => Promise.reject(new Error("the store is away"));
  await expect(stills.get("b", forever, fails)).rejects.toThrow("the store is away");
  expect(await stills.get("b", forever, async () => IMAGE)).toBe(IMAGE);
});
