import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { startMediaChild } from "./media-child.ts";

const LIFE_MS = 120_000;

export interface GeneratedClip {
  /** Of an FLV file. */
  readonly path: string;
  readonly seconds: number;
  readonly bFrames: number;
}

/** Writes a test picture of 720p30 at 2 Mbit/s with a keyframe every 2 s, and a tone, as fast as it can be encoded. Throws with the child's reason. */
export async function generateClip(job: GeneratedClip, options: { clock: Clock; log: Log }): Promise<void> {
  const module = new URL("./generated-clip-child.ts", import.meta.url);
  const end = await startMediaChild({ module, job, lifeMs: LIFE_MS, ...options }).ended;
  if (!end.ok) throw new Error(`encoding the clip failed: ${end.reason}`);
}
