import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

const EVERY_MS = 15_000;
const CLIP_MS = 3_000;
/** Behind the newest picture. */
const BEHIND_MS = 8_000;
/** A clip of what a fault may have taken may fail, and says so. */
const NEAR_MS = 30_000;
const TOLERANCE_SECONDS = 0.7;

interface TakenClip {
  readonly id: string;
  readonly askedAt: number;
}

/** Cuts clips of a running stream one after another, and remembers those that the server took. */
export class Clipper implements AsyncDisposable {
  readonly #taken: TakenClip[] = [];
  readonly #world: World;
  readonly #work: UntilStopped;

  constructor(world: World, { playbackId }: Stream) {
    this.#world = world;
    const { clips } = world.weir.client;
    this.#work = new UntilStopped(async (signal) => {
      while (!signal.aborted) {
        await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
        const [askedAt, startTime] = [Date.now(), Date.now() - BEHIND_MS - CLIP_MS];
        const clip = { playbackId, startTime, endTime: startTime + CLIP_MS };
        const { asset } = await clips.create(clip).catch(() => ({ asset: null }));
        if (asset) this.#taken.push({ id: asset.id, askedAt });
      }
    });
  }

  get count(): number {
    return this.#taken.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.stop();
  }

  /** Clips that were acknowledged, cannot be watched and had no fault near them. */
  async lost(withinMs: number): Promise<string[]> {
    await this.#work.stop();
    const until = Date.now() + withinMs;
    const found: string[] = [];
    for (const { id, askedAt } of this.#taken) {
      const problem = await this.#problemOf(id, until, this.#world.hadLossNear(askedAt, NEAR_MS));
      if (problem) found.push(`clip ${id}: ${problem}`);
    }
    return found;
  }

  async #problemOf(id: string, until: number, mayFail: boolean): Promise<string | null> {
    for (;;) {
      const { status, videoSpec, playbackUrl } = await this.#world.weir.client.assets.get(id);
      if (status.phase === "failed") return mayFail ? null : `failed: ${status.errorMessage}`;
      if (status.phase === "ready") {
        const seconds = videoSpec?.duration ?? 0;
        if (!mayFail && Math.abs(seconds - CLIP_MS / 1_000) > TOLERANCE_SECONDS) return `it is ${seconds} s long`;
        const answer = await fetch(playbackUrl ?? "");
        return answer.ok ? null : `its video is answered ${answer.status}`;
      }
      if (Date.now() > until) return `still ${status.phase}`;
      await sleep(500);
    }
  }
}
