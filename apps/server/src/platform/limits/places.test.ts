import { expect, test } from "vitest";
import { Places } from "./places.ts";

const isTaken = (places: Places, ...holders: string[]) => holders.map((holder) => places.take(holder));

test("a holder has its share, and others still get theirs", () => {
  const places = new Places({ inAll: 10, perHolder: 2 });
  expect(isTaken(places, "a", "a", "a", "b")).toEqual([true, true, false, true]);
  expect([places.taken, places.heldBy("a"), places.heldBy("b")]).toEqual([3, 2, 1]);
});

test("all holders together have no more than there are", () => {
  const places = new Places({ inAll: 2, perHolder: 2 });
  expect(isTaken(places, "a", "b", "c")).toEqual([true, true, false]);
});

test("a place that was given back is free for anybody, and nobody gives back what they do not hold", () => {
  const places = new Places({ inAll: 1, perHolder: 1 });
  places.take("a");
  places.giveBack("b");
  expect(isTaken(places, "b")).toEqual([false]);
  places.giveBack("a");
  expect(isTaken(places, "b", "a")).toEqual([true, false]);
});

test("what is larger takes more places, and gives back as many", () => {
  const places = new Places({ inAll: 10, perHolder: 6 });
  expect([places.take("a", 6), places.take("a"), places.take("b", 5), places.take("b", 4)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect(places.taken).toBe(10);
  places.giveBack("a", 5);
  expect([places.taken, places.heldBy("a")]).toEqual([5, 1]);
  places.giveBack("a", 3);
  expect([places.taken, places.heldBy("a"), places.take("b", 3)]).toEqual([4, 0, false]);
});
