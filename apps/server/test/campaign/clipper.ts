import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

const EVERY_MS = 15_000;
const CLIP_MS = 3_000;
/** Behind the newest picture. */
const BEHIND_MS = 8_000;
const TOLERANCE_SECONDS = 0.7;
/** Nobody sent at the time of the clip. It may also be short. */
const NOTHING_THEN = "There is no media between the start and the end of the clip";

interface TakenClip {
  readonly id: string;
  /** Nothing went wrong at its time. */
  readonly isCalm: boolean;
}

/** Cuts clips of a running stream one after another, and remembers those that the server took. */
export class Clipper implements AsyncDisposable {
  readonly #taken: TakenClip[] = [];
  readonly #world: World;
  readonly #playbackId: string;
  readonly #work: UntilStopped;

  constructor(world: World, { playbackId }: Stream) {
    this.#world = world;
    this.#playbackId = playbackId;
    this.#work = new UntilStopped(async (signal) => {
      while (!signal.aborted) {
        await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
        await this.#clip(false).catch(() => {});
      }
    });
  }

  get count(): number {
    return this.#taken.length;
  }

  /** One more, of a time without faults, which the server must take and make, once it has made the others: it makes a few at a time. */
  async clipInCalm(withinMs: number): Promise<void> {
    await this.lost(withinMs);
    await sleep(BEHIND_MS + 2 * CLIP_MS);
    await this.#clip(true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.stop();
  }

  /** Clips that were acknowledged and cannot be watched. */
  async lost(withinMs: number): Promise<string[]> {
    await this.#work.stop();
    const until = Date.now() + withinMs;
    const found: string[] = [];
    for (const clip of this.#taken) {
      const problem = await this.#problemOf(clip, until);
      if (problem) found.push(`clip ${clip.id}: ${problem}`);
    }
    return found;
  }

  async #clip(isCalm: boolean): Promise<void> {
    const startTime = Date.now() - BEHIND_MS - CLIP_MS;
    const clip = { playbackId: this.#playbackId, startTime, endTime: startTime + CLIP_MS };
    const { asset } = await this.#world.weir.client.clips.create(clip);
    this.#taken.push({ id: asset.id, isCalm });
  }

  async #problemOf({ id, isCalm }: TakenClip, until: number): Promise<string | null> {
    for (;;) {
      const { status, videoSpec, playbackUrl } = await this.#world.weir.client.assets.get(id);
      if (status.phase === "failed" && !isCalm && status.errorMessage?.startsWith(NOTHING_THEN)) return null;
      if (status.phase === "failed") return `failed: ${status.errorMessage}`;
      if (status.phase === "ready") {
        const seconds = videoSpec?.duration ?? 0;
        if (isCalm && Math.abs(seconds - CLIP_MS / 1_000) > TOLERANCE_SECONDS) return `it is ${seconds} s long`;
        const answer = await fetch(playbackUrl ?? "");
        return answer.ok ? null : `its video is answered ${answer.status}`;
      }
      if (Date.now() > until) return `still ${status.phase}`;
      await sleep(500);
    }
  }
}
