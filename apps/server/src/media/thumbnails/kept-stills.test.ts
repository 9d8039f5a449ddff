import { expect, test } from "vitest";
import { TooManyWaiting } from "../../platform/limits/turns.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { KeptStills } from "./kept-stills.ts";

const IMAGE = Uint8Array.of(1);

test("concurrent requests share one computation; an image that is too old is made again", async () => {
  const clock = new ManualClock(0);
  const stills = new KeptStills(clock, 4_000);
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

test("a missing image is retried after 2 s, then less and less often, a rejected one immediately", async () => {
  const clock = new ManualClock(0);
  const stills = new KeptStills(clock, 4_000);
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
  await stills.get("a", forever, none);
  clock.advance(3_999);
  await stills.get("a", forever, none);
  expect(tries).toBe(2);
  clock.advance(1);
  expect(await stills.get("a", forever, async () => IMAGE)).toBe(IMAGE);
  const fails = () => Promise.reject(new Error("the store is away"));
  await expect(stills.get("b", forever, fails)).rejects.toThrow("the store is away");
  expect(await stills.get("b", forever, async () => IMAGE)).toBe(IMAGE);
});

test("while the machine is busy a request gets the last image after a second, and a later one the image that it did not wait for", async () => {
  const clock = new ManualClock(0);
  const stills = new KeptStills(clock, 4_000);
  const slow = Promise.withResolvers<Uint8Array | null>();
  await stills.get("a", 5_000, async () => IMAGE);
  clock.advance(5_000);
  const asked = stills.get("a", 5_000, () => slow.promise);
  await Promise.resolve();
  clock.advance(1_000);
  expect(await asked).toBe(IMAGE);
  const newer = Uint8Array.of(2);
  slow.resolve(newer);
  await slow.promise;
  expect(await stills.get("a", 5_000, () => Promise.reject(new Error("asked again")))).toBe(newer);
});

test("an image that cannot be renewed stays, and is tried again less and less often", async () => {
  const clock = new ManualClock(0);
  const stills = new KeptStills(clock, 4_000);
  let tries = 0;
  const none = async () => {
    tries++;
    return null;
  };
  await stills.get("a", 5_000, async () => IMAGE);
  clock.advance(5_000);
  for (let second = 0; second < 600; second++) {
    expect(await stills.get("a", 5_000, none)).toBe(IMAGE);
    clock.advance(1_000);
  }
  // After 2, 4, 8, 16 and 32 s, then once a minute.
  expect(tries).toBe(5 + 9);
});

test("nobody waits longer than the limit for a first image", async () => {
  const clock = new ManualClock(0);
  const stills = new KeptStills(clock, 4_000);
  const slow = Promise.withResolvers<Uint8Array | null>();
  const asked = stills.get("a", 5_000, () => slow.promise);
  const refused = expect(asked).rejects.toThrow(TooManyWaiting);
  await Promise.resolve();
  clock.advance(4_000);
  await refused;
  slow.resolve(IMAGE);
  await slow.promise;
  expect(await stills.get("a", 5_000, () => Promise.reject(new Error("asked again")))).toBe(IMAGE);
});
