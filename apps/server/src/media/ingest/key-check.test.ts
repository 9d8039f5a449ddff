import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { PublishDecision } from "../../ports/index.ts";
import { grantOf } from "./ingest-rig.ts";
import { KeyCheck } from "./key-check.ts";

const WRONG: PublishDecision = { ok: false, reason: "unknown-key" };

/** A gate whose look-ups the test answers, and the results of the callers. */
class Rig {
  readonly clock = new ManualClock();
  readonly check = new KeyCheck(this.clock);
  readonly lookUps: { key: string; answer: (decision: PublishDecision) => void }[] = [];
  readonly heard: string[] = [];

  ask(streamKey: string, { client = "a" as string | null, isWanted = (): boolean => true } = {}): void {
    const authorize = () =>
      new Promise<PublishDecision>((answer) => {
        this.lookUps.push({ key: streamKey, answer });
      });
    void this.check.ask({ client, streamKey, isWanted, authorize }).then((decision) => {
      this.heard.push(`${streamKey} ${decision?.ok ?? "unwanted"}`);
    });
  }

  /** Answers all running look-ups and waits for the consequences. */
  async answer(decision: PublishDecision): Promise<void> {
    for (const lookUp of this.lookUps.splice(0)) lookUp.answer(decision);
    await new Promise(setImmediate);
  }

  async guess(times: number, client: string | null = "a"): Promise<void> {
    for (let i = 0; i < times; i++) this.ask(`guess-${i}`, { client });
    await this.answer(WRONG);
    this.heard.length = 0;
  }
}

test("after 20 wrong keys a client's keys are looked up one at a time, and a valid one is accepted immediately", async () => {
  const rig = new Rig();
  await rig.guess(20);
  for (const key of ["one", "two", "right"]) rig.ask(key);
  for (const key of ["one", "two"]) {
    await new Promise(setImmediate);
    expect(rig.lookUps.map((lookUp) => lookUp.key)).toEqual([key]);
    await rig.answer(WRONG);
  }
  await rig.answer(grantOf(1));
  expect(rig.heard).toEqual(["right true"]);
  rig.clock.advance(3_000);
  await new Promise(setImmediate);
  expect(rig.heard).toEqual(["right true", "one false", "two false"]);
});

test("a recently valid key does not wait behind its client's guesses", async () => {
  const rig = new Rig();
  rig.ask("right");
  await rig.answer(grantOf(1));
  await rig.guess(20);
  rig.ask("guess");
  rig.ask("right");
  await new Promise(setImmediate);
  expect(rig.lookUps.map((lookUp) => lookUp.key).sort()).toEqual(["guess", "right"]);
});

test.each(["unknown-key", "suspended"] as const)(
  "a key that became %s is slow like any other wrong one",
  async (reason) => {
    const rig = new Rig();
    rig.ask("was-right");
    await rig.answer(grantOf(1));
    await rig.guess(20);
    rig.ask("was-right");
    await rig.answer({ ok: false, reason });
    rig.heard.length = 0;
    rig.ask("was-right");
    await rig.answer({ ok: false, reason });
    expect(rig.heard).toEqual([]);
  },
);

test("a guess whose connection has closed is not looked up", async () => {
  const rig = new Rig();
  await rig.guess(20);
  rig.ask("one");
  rig.ask("gone", { isWanted: () => false });
  rig.ask("three");
  await new Promise(setImmediate);
  await rig.answer(WRONG);
  expect(rig.heard).toEqual(["gone unwanted"]);
  expect(rig.lookUps.map((lookUp) => lookUp.key)).toEqual(["three"]);
});

test("a failed look-up does not block those behind it", async () => {
  const rig = new Rig();
  await rig.guess(20);
  const failing = rig.check.ask({
    client: "a",
    streamKey: "one",
    isWanted: () => true,
    authorize: () => Promise.reject(new Error("database gone")),
  });
  rig.ask("right");
  await expect(failing).rejects.toThrow("database gone");
  await rig.answer(grantOf(1));
  expect(rig.heard).toEqual(["right true"]);
});

test.each([
  ["another client", "b"],
  ["one that no limit is for", null],
])("%s is not slowed down", async (_, client) => {
  const rig = new Rig();
  await rig.guess(20);
  await rig.guess(30, client === "b" ? "c" : null);
  for (let i = 0; i < 3; i++) rig.ask("key", { client });
  await new Promise(setImmediate);
  expect(rig.lookUps).toHaveLength(3);
});

test("after a minute without wrong keys a client is no longer slowed down", async () => {
  const rig = new Rig();
  await rig.guess(20);
  rig.clock.advance(60_000);
  rig.ask("one");
  rig.ask("two");
  await new Promise(setImmediate);
  expect(rig.lookUps).toHaveLength(2);
});
