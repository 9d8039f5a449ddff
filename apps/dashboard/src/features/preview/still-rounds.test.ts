import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StillRounds } from "./still-rounds.ts";

const PERIOD_MS = 5000;

/** Loads that wait until the test lets them end. */
class Loads {
  readonly open = new Map<string, PromiseWithResolvers<void>>();
  asked = 0;

  readonly load = (address: string): Promise<void> => {
    this.asked++;
    const load = Promise.withResolvers<void>();
    this.open.set(address, load);
    return load.promise;
  };

  async end(address: string, how: "resolve" | "reject" = "resolve"): Promise<void> {
    this.open.get(address)?.[how]();
    this.open.delete(address);
    await vi.advanceTimersByTimeAsync(0);
  }

  async endAll(): Promise<void> {
    while (this.open.size > 0) for (const address of this.open.keys()) await this.end(address);
  }
}

let loads: Loads;
let rounds: StillRounds;
let shown: string[];
const still = (name: string) => ({ address: () => name, show: (address: string) => void shown.push(address) });

beforeEach(() => {
  vi.useFakeTimers();
  shown = [];
  loads = new Loads();
  rounds = new StillRounds({ load: loads.load, periodMs: PERIOD_MS, maxAtOnce: 2 });
});
afterEach(() => void vi.useRealTimers());

test("however many pictures are in sight, a few load at a time and each gets its turn", async () => {
  for (const name of ["a", "b", "c", "d", "e"]) rounds.add(still(name));
  expect([...loads.open.keys()]).toEqual(["a", "b"]);
  await loads.end("b");
  expect([...loads.open.keys()]).toEqual(["a", "c"]);
  await loads.endAll();
  expect(shown.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
});

test("a picture is renewed a period after it came, also after a failure", async () => {
  rounds.add(still("a"));
  await loads.end("a", "reject");
  expect(shown).toEqual([]);
  await vi.advanceTimersByTimeAsync(PERIOD_MS - 1);
  expect(loads.asked).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  await loads.end("a");
  expect([loads.asked, shown]).toEqual([2, ["a"]]);
});

test("nothing is asked for while the page is hidden, and everything when it is shown again", async () => {
  rounds.add(still("a"));
  await loads.end("a");
  rounds.pause(true);
  rounds.add(still("b"));
  await vi.advanceTimersByTimeAsync(10 * PERIOD_MS);
  expect(loads.asked).toBe(1);
  rounds.pause(false);
  expect([...loads.open.keys()].toSorted()).toEqual(["a", "b"]);
});

test("a picture that left the screen is neither shown nor asked for again; another loads when it has ended", async () => {
  const remove = rounds.add(still("a"));
  rounds.add(still("b"));
  rounds.add(still("c"));
  remove();
  // A person who scrolls fast asks for no more at once than one who looks.
  expect([...loads.open.keys()]).toEqual(["a", "b"]);
  await loads.end("a");
  expect([shown, [...loads.open.keys()]]).toEqual([[], ["b", "c"]]);
  await loads.endAll();
  await vi.advanceTimersByTimeAsync(PERIOD_MS);
  expect([shown.toSorted(), [...loads.open.keys()]]).toEqual([
    ["b", "c"],
    ["b", "c"],
  ]);
});

test("a picture that fails is asked for less and less often, and as often as others once it is there", async () => {
  rounds.add(still("a"));
  for (const periods of [1, 2, 4, 8, 12, 12]) {
    await loads.end("a", "reject");
    await vi.advanceTimersByTimeAsync(periods * PERIOD_MS - 1);
    expect([...loads.open.keys()]).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect([...loads.open.keys()]).toEqual(["a"]);
  }
  await loads.end("a");
  await vi.advanceTimersByTimeAsync(PERIOD_MS);
  expect([...loads.open.keys()]).toEqual(["a"]);
});
