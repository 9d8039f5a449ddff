import { expect, test } from "vitest";
import { ManualClock } from "../manual-clock-rig.ts";
import { DeniedClients } from "./denied-clients.ts";

type Answer = "admitted" | "denied" | "too-many";

function start() {
  const clock = new ManualClock();
  const clients = new DeniedClients({
    clock,
    deniedPerMinute: 600,
    atOnce: 1_000,
    slowed: { atOnce: 8, perSecond: 50 },
  });
  let asked = 0;
  const askMany = async (count: number, answer: Answer, client = "a"): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (let i = 0; i < count; i++) {
      const got = await clients.ask<Answer>(client, async () => {
        asked++;
        return answer;
      });
      counts[got] = (counts[got] ?? 0) + 1;
    }
    return counts;
  };
  return { clock, clients, askMany, asked: () => asked };
}

test("a client that is denied 600 times in a minute asks 50 times a second from then on", async () => {
  const { clock, askMany, asked } = start();
  expect(await askMany(1_000, "denied")).toEqual({ denied: 650, "too-many": 350 });
  expect(asked()).toBe(650);
  expect(await askMany(10, "denied", "another")).toEqual({ denied: 10 });
  clock.advance(1_000);
  expect(await askMany(100, "admitted")).toEqual({ admitted: 50, "too-many": 50 });
  clock.advance(60_000);
  expect(await askMany(100, "admitted")).toEqual({ admitted: 100 });
});

test("a client that is admitted may ask as often as it likes", async () => {
  expect(await start().askMany(5_000, "admitted")).toEqual({ admitted: 5_000 });
});

test("a client that is slowed down has eight questions at a time, also when one fails", async () => {
  const { clock, clients, askMany } = start();
  await askMany(600, "denied");
  let fail: (error: Error) => void = () => {};
  const failing = new Promise<"denied">((_, reject) => {
    fail = reject;
  });
  const slow = Array.from({ length: 8 }, () => clients.ask("a", () => failing));
  expect(await askMany(1, "admitted")).toEqual({ "too-many": 1 });
  fail(new Error("database gone"));
  await Promise.allSettled(slow);
  clock.advance(1_000);
  expect(await askMany(1, "admitted")).toEqual({ admitted: 1 });
});

test("a client has a thousand questions open at a time before anything was denied, and others have theirs", async () => {
  const { clients, askMany } = start();
  const silent = new Promise<"denied">(() => {});
  for (let i = 0; i < 1_000; i++) void clients.ask("a", () => silent);
  expect(await askMany(1, "admitted")).toEqual({ "too-many": 1 });
  expect(await askMany(1, "admitted", "another")).toEqual({ admitted: 1 });
});
