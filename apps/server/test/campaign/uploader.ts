import { openAsBlob } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Asset } from "@weir/contract";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

const FILE = fileURLToPath(new URL("../../../../packages/formats/src/mp4/corpus/index-first.mp4", import.meta.url));
const EVERY_MS = 8_000;

/** Uploads small videos one after another, and remembers those that the server took whole. */
export class Uploader implements AsyncDisposable {
  readonly #taken: Asset[] = [];
  readonly #world: World;
  readonly #work: UntilStopped;

  constructor(world: World) {
    this.#world = world;
    this.#work = new UntilStopped(async (signal) => {
      const file = await openAsBlob(FILE);
      while (!signal.aborted) {
        await this.#upload(file).catch(() => {});
        await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
      }
    });
  }

  get count(): number {
    return this.#taken.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.stop();
  }

  /** Uploads that were acknowledged and cannot be watched. */
  async lost(withinMs: number): Promise<string[]> {
    await this.#work.stop();
    const until = Date.now() + withinMs;
    const found: string[] = [];
    for (const { id } of this.#taken) {
      const problem = await this.#problemOf(id, until);
      if (problem) found.push(`asset ${id}: ${problem}`);
    }
    return found;
  }

  async #upload(body: Blob): Promise<void> {
    const { asset, url } = await this.#world.weir.client.assets.requestUpload({ name: "campaign" });
    const { ok } = await fetch(url, { method: "PUT", body });
    if (ok) this.#taken.push(asset);
  }

  async #problemOf(id: string, until: number): Promise<string | null> {
    const { assets, playback } = this.#world.weir.client;
    for (;;) {
      const { status, playbackId } = await assets.get(id);
      if (status.phase === "failed") return `failed: ${status.errorMessage}`;
      if (status.phase === "ready") {
        const { meta } = await playback.get(playbackId);
        const [first] = meta.source;
        const answer = await fetch(first?.url ?? "");
        return answer.ok ? null : `its video is answered ${answer.status}`;
      }
      if (Date.now() > until) return `still ${status.phase}`;
      await sleep(500);
    }
  }
}
