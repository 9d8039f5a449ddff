import { expect, test, vi } from "vitest";
import { Credentials, expiryOf } from "./credentials.ts";

const tokenUntil = (seconds: number) => `h.${btoa(JSON.stringify({ exp: seconds })).replace(/=+$/, "")}.s`;

test("the expiry of a token is read, and of nothing else", () => {
  expect(expiryOf(tokenUntil(1_700_000_000))).toBe(1_700_000_000_000);
  for (const other of ["", "a.b.c", "no token", "a.e30.c"]) expect(expiryOf(other)).toBeNull();
});

test("a function is asked once, again before its token expires, and again when that is refused, but not in a loop", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const ask = vi.fn(async () => tokenUntil(1000));
  const credentials = new Credentials();
  credentials.renewBy(ask);
  await credentials.current();
  expect(await credentials.current()).toEqual({ name: "jwt", value: tokenUntil(1000) });
  expect(ask).toHaveBeenCalledTimes(1);
  expect(credentials.renewalMs(900_000)).toBe(70_000);
  expect(credentials.renewalMs(968_000)).toBe(16_000);
  expect(credentials.renewalMs(2_000_000)).toBe(0);
  expect(credentials.renew()).toBe(true);
  await credentials.current();
  expect(ask).toHaveBeenCalledTimes(2);
  expect([credentials.renew(), credentials.renewalMs(2_000_000)]).toEqual([false, 10_000]);
  vi.advanceTimersByTime(10_000);
  expect(credentials.renew()).toBe(true);
  vi.useRealTimers();
});

test("a token that the page gives is taken as it is", async () => {
  const credentials = new Credentials();
  expect(await credentials.current()).toBeNull();
  credentials.give({ name: "accessKey", value: "k" });
  expect(await credentials.current()).toEqual({ name: "accessKey", value: "k" });
  expect([credentials.renew(), credentials.renewalMs(0)]).toEqual([false, null]);
});
