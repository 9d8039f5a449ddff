import { describe, expect, it, test } from "vitest";
import { Chance } from "../../apps/server/test/support/chance.ts";
import { corpusOf } from "./corpus.ts";
import { type FuzzTarget, holds, tryInput, utf8 } from "./fuzz-target.ts";
import { mutated } from "./mutate.ts";
import { ReachedCode } from "./reached-code.ts";
import { TARGETS } from "./targets.ts";

/** `npm run fuzz` makes more. */
const INPUTS = 150;

describe.each(TARGETS.map((target) => [target.name, target] as const))("%s", (_name, target) => {
  it("accepts its seeds", () => {
    for (const seed of target.seeds) target.read(seed);
  });

  it("reads its corpus, and inputs made from it, or refuses them", () => {
    const corpus = corpusOf(target);
    const [inputs, words, chance] = [[...target.seeds, ...corpus], (target.words ?? []).map(utf8), new Chance(1)];
    for (const input of corpus) tryInput(target, input);
    for (let n = 0; n < INPUTS; n++) tryInput(target, mutated(inputs, words, chance));
  });
});

const planted: FuzzTarget = {
  name: "planted",
  seeds: [Uint8Array.of(1, 2, 3, 4)],
  read(input) {
    if (input[0] === 0xff) throw new RangeError("Offset is outside the bounds of the DataView");
    holds(input.length < 10 || input[1] !== 0xff, "planted");
  },
};

test("an error that no user of a reader expects is a finding, and so is a claim that does not hold", () => {
  const chance = new Chance(7);
  const found = new Set<string>();
  for (let n = 0; n < 20_000; n++) {
    try {
      tryInput(planted, mutated(planted.seeds, [], chance));
    } catch (error) {
      found.add((error as Error).message);
    }
  }
  expect([...found].sort()).toEqual(["Offset is outside the bounds of the DataView", "does not hold: planted"]);
});

test("the same seed makes the same inputs", () => {
  const inputsOf = (seed: number) => {
    const chance = new Chance(seed);
    return Array.from({ length: 20 }, () => Buffer.from(mutated(planted.seeds, [], chance)).toString("hex")).join();
  };
  expect(inputsOf(3)).toBe(inputsOf(3));
  expect(inputsOf(4)).not.toBe(inputsOf(3));
});

test("new code is what no input before has run", () => {
  const [range, address] = ["range", "playback-address"].map((name) => TARGETS.find((one) => one.name === name));
  const reached = new ReachedCode();
  try {
    range?.read(utf8("bytes=0-1"));
    expect(reached.hasNew({ kept: true })).toBe(true);
    range?.read(utf8("bytes=0-1"));
    expect(reached.hasNew({ kept: true })).toBe(false);
    address?.read(utf8("/hls/abcd1234/index.m3u8"));
    expect(reached.hasNew({ kept: true })).toBe(true);
  } finally {
    reached.close();
  }
});
