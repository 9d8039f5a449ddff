import { setTimeout as sleep } from "node:timers/promises";
import { startBroadcast } from "./broadcast.ts";
import { FlashAndBeep } from "./flash-and-beep.ts";
import type { WeirServer } from "./weir-server.ts";

const WATCHED_MS = 5_000;

/** The largest distance of a flash and its beep, in milliseconds, that a WHEP viewer receives in five seconds; null with fewer than three of them. */
export async function lipSyncOf(weir: WeirServer, bFrames: 0 | 2): Promise<number | null> {
  await using broadcast = await startBroadcast(weir, {
    ...{ bFrames, flashes: true, width: 320, height: 180, bitrateBps: 300_000, seconds: 25 },
    stream: { profiles: [] },
  });
  using viewer = await FlashAndBeep.watch(weir.webrtcUrl(broadcast.stream.playbackId));
  await sleep(WATCHED_MS);
  const distances = await viewer.distancesMs();
  if (distances.length < 3) return null;
  return distances.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0] ?? null;
}
