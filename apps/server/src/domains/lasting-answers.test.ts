import { expect, it } from "vitest";
import { DatabaseAway } from "../platform/database-away.ts";
import { ManualClock } from "../platform/manual-clock-rig.ts";
import { LastingAnswers } from "./lasting-answers.ts";

const MINUTES_MS = 60_000;

/** A database that answers, fails or hangs, as told. */
function rig(capacity = 10) {
  const clock = new ManualClock();
  const known = new LastingAnswers<string>(clock, { freshMs: 0, capacity });
  const state = { looks: 0, answer: async (): Promise<string | undefined> => "one" };
  const get = (key = "key") =>
    known.get(key, () => {
      state.looks += 1;
      return state.answer();
    });
  const isAway = () => Promise.reject(new DatabaseAway(new Error("gone")));
  const hangs = () => new Promise<string>(() => {});
  return { clock, known, state, get, isAway, hangs };
}

it("what the database said last stands for five minutes without it, and no longer", async () => {
  const { clock, state, get, isAway } = rig();
  expect(await get()).toBe("one");
  state.answer = isAway;
  clock.advance(5 * MINUTES_MS - 1);
  expect(await get()).toBe("one");
  clock.advance(1);
  await expect(get()).rejects.toBeInstanceOf(DatabaseAway);
  state.answer = async () => "two";
  expect(await get()).toBe("two");
});

it("nothing stands of what was never read, nor that there is nothing, nor instead of another failure", async () => {
  const { state, get, isAway } = rig();
  state.answer = isAway;
  await expect(get()).rejects.toBeInstanceOf(DatabaseAway);
  state.answer = async () => "one";
  await get();
  state.answer = async () => undefined;
  expect(await get()).toBeUndefined();
  state.answer = isAway;
  await expect(get()).rejects.toBeInstanceOf(DatabaseAway);
  state.answer = async () => "one";
  await get();
  state.answer = () => Promise.reject(new Error("broken"));
  await expect(get()).rejects.toThrow("broken");
});

it("a database that hangs is waited for once, for a second, and asked once for all", async () => {
  const { clock, state, get, hangs } = rig();
  await get();
  state.answer = hangs;
  const waiting = [get(), get()];
  clock.advance(1_000);
  expect(await Promise.all(waiting)).toEqual(["one", "one"]);
  expect(await get()).toBe("one");
  expect(state.looks).toBe(2);
});

it("what was forgotten stands no longer, not even for somebody who waits already", async () => {
  const { clock, known, state, get, isAway } = rig();
  await get();
  let fail = (): void => {};
  state.answer = () => new Promise((_, reject) => (fail = () => reject(new DatabaseAway(new Error("gone")))));
  const waiting = expect(get()).rejects.toBeInstanceOf(DatabaseAway);
  known.forget("all");
  clock.advance(1_000);
  fail();
  await waiting;
  state.answer = isAway;
  await expect(get()).rejects.toBeInstanceOf(DatabaseAway);
});

it("an answer to a question from before it was forgotten is not kept", async () => {
  const { known, state, get, isAway } = rig();
  let answer = (_text: string): void => {};
  state.answer = () => new Promise((resolve) => (answer = resolve));
  const early = get();
  known.forget("all");
  answer("old");
  expect(await early).toBe("old");
  state.answer = isAway;
  await expect(get()).rejects.toBeInstanceOf(DatabaseAway);
});

it("keeps so many, those that were read last", async () => {
  const { state, get, isAway } = rig(2);
  for (const key of ["a", "b", "a", "c"]) await get(key);
  state.answer = isAway;
  expect([await get("a"), await get("c")]).toEqual(["one", "one"]);
  await expect(get("b")).rejects.toBeInstanceOf(DatabaseAway);
});
