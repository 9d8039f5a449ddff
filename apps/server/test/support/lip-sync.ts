import { expect } from "vitest";
import { startBroadcast } from "./broadcast.ts";
import { FlashAndBeep } from "./flash-and-beep.ts";
import type { WeirServer } from "./weir-server.ts";

const FLASHES = 4;

/** The largest distance of a flash and its beep, in milliseconds, of the first flashes that a WHEP viewer receives. */
export async function lipSyncOf(weir: WeirServer, bFrames: 0 | 2): Promise<number> {
  await using broadcast = await startBroadcast(weir, {
    ...{ bFrames, flashes: true, width: 320, height: 180, bitrateBps: 300_000, seconds: 40 },
    stream: { profiles: [] },
  });
  using viewer = await FlashAndBeep.watch(weir.webrtcUrl(broadcast.stream.playbackId));
  let distances: readonly number[] = [];
  const count = async (): Promise<number> => {
    distances = await viewer.distancesMs();
    return distances.length;
  };
  await expect.poll(count, { timeout: 30_000, interval: 500 }).toBeGreaterThanOrEqual(FLASHES);
  return distances.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0] ?? Number.NaN;
}
