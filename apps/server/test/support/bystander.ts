import { get } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { expect, type TestContext } from "vitest";
import { type Broadcast, type BroadcastOptions, startBroadcast } from "./broadcast.ts";
import { childOf } from "./gated-broadcast.ts";
import type { WeirServer } from "./weir-server.ts";

declare module "vitest" {
  interface TaskMeta {
    /** Figures for the table of all tests. */
    measured?: string[];
  }
}

const API_EVERY_MS = 50;
const ANSWER_WITHIN_MS = 30_000;

/** The delays of a normal user during an attack. */
export interface Experience {
  readonly apiCalls: number;
  readonly apiFailures: number;
  readonly apiMedianMs: number;
  readonly apiWorstMs: number;
  /** Longest time without growth of the viewer's playlist. */
  readonly longestStallMs: number;
}

/** Broadcasts, records, watches and uses the API from separate addresses during `attack`. */
export async function experienceOf(
  weir: WeirServer,
  attack: (broadcast: Broadcast) => Promise<void>,
  options: BroadcastOptions = {},
): Promise<Experience> {
  await using broadcast = await startBroadcast(weir, { ...options, stream: { record: true, ...options.stream } });
  const playlist = await childOf(broadcast.hlsUrl);
  await fetch(playlist);
  const stop = new AbortController();
  const api: number[] = [];
  let apiFailures = 0;
  const useApi = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const startedAt = performance.now();
      await broadcast.now().catch(() => apiFailures++);
      api.push(performance.now() - startedAt);
      await wait(API_EVERY_MS);
    }
  };
  let longestStallMs = 0;
  const watch = async (): Promise<void> => {
    let [newest, grewAt] = ["", performance.now()];
    while (!stop.signal.aborted) {
      const text = await read(playlist).catch(() => "");
      const last = text.match(/^(?:#EXT-X-PART:.*|\d+\.m4s)$/gm)?.at(-1) ?? newest;
      const now = performance.now();
      if (last !== newest) [newest, grewAt] = [last, now];
      longestStallMs = Math.max(longestStallMs, now - grewAt);
      await wait(API_EVERY_MS);
    }
  };
  const bystander = Promise.all([useApi(), watch()]);
  try {
    await attack(broadcast);
  } finally {
    stop.abort();
    await bystander;
  }
  api.sort((a, b) => a - b);
  return {
    apiCalls: api.length,
    apiFailures,
    apiMedianMs: api[api.length >> 1] ?? Number.NaN,
    apiWorstMs: api.at(-1) ?? Number.NaN,
    longestStallMs,
  };
}

/** Adds figures to the table of outcomes. */
export function measured({ task }: Pick<TestContext, "task">, ...figures: readonly string[]): void {
  task.meta.measured = [...(task.meta.measured ?? []), ...figures];
}

export function told({ apiMedianMs, apiWorstMs, apiFailures, longestStallMs }: Experience): string {
  const ms = (value: number) => `${Math.round(value)} ms`;
  return `API ${ms(apiMedianMs)} median, ${ms(apiWorstMs)} worst, ${apiFailures} failed; viewer at most ${ms(longestStallMs)} without news`;
}

/** A new connection each time, like a player after an error. */
function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, timeout: ANSWER_WITHIN_MS }, async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      resolve(text);
    });
    request.on("error", reject);
    request.on("timeout", () => request.destroy(new Error("no answer")));
  });
}

/** Checks that the recording survived the attack: the session ends and is complete. */
export async function expectWholeRecording(broadcast: Broadcast): Promise<void> {
  await broadcast.publisher.stop();
  const { sourceSegmentsDuration, mp4Url } = await broadcast.recorded(60_000);
  expect(sourceSegmentsDuration).toBeGreaterThan(0);
  expect((await fetch(mp4Url, { headers: { range: "bytes=0-999" } })).status).toBe(206);
}
