import { setTimeout as sleep } from "node:timers/promises";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

const EVERY_MS = 250;

/** A caller of the API that remembers what was acknowledged, and what may have been. */
export class Writer implements AsyncDisposable {
  /** The name of each stream that the server acknowledged, and the one that it may have taken since. */
  readonly #names = new Map<string, { acknowledged: string; maybe: string | null }>();
  readonly #deleted = new Set<string>();
  readonly #world: World;
  readonly #work: UntilStopped;
  #writes = 0;

  constructor(world: World) {
    this.#world = world;
    this.#work = new UntilStopped(async (signal) => {
      for (let n = 0; !signal.aborted; n++) {
        // What is not answered is not acknowledged.
        await this.#write(n).catch(() => {});
        await sleep(EVERY_MS);
      }
    });
  }

  get writes(): number {
    return this.#writes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.stop();
  }

  /** Acknowledged writes that are not there. */
  async lost(): Promise<string[]> {
    await this.#work.stop();
    const { streams } = this.#world.weir.client;
    const found: string[] = [];
    for (const [id, { acknowledged, maybe }] of this.#names) {
      const { name } = await streams.get(id);
      if (name !== acknowledged && name !== maybe) found.push(`stream ${id} is named ${name}, not ${acknowledged}`);
    }
    for (const id of this.#deleted) {
      const status = await streams.get(id).then(
        () => 200,
        (error: { status?: number }) => error.status,
      );
      if (status !== 404) found.push(`the deleted stream ${id} is answered ${status}`);
    }
    return found;
  }

  async #write(n: number): Promise<void> {
    const { streams } = this.#world.weir.client;
    const [oldest] = this.#names.keys();
    if (n % 5 === 4 && oldest) {
      const kept = this.#names.get(oldest);
      // Whatever is answered, its name is no longer looked at.
      this.#names.delete(oldest);
      await streams.delete(oldest);
      this.#deleted.add(oldest);
      if (kept) this.#writes++;
      return;
    }
    const { id } = await streams.create({ name: `written ${n}`, profiles: [] });
    this.#names.set(id, { acknowledged: `written ${n}`, maybe: null });
    this.#writes++;
    const name = `renamed ${n}`;
    this.#names.set(id, { acknowledged: `written ${n}`, maybe: name });
    await streams.patch(id, { name });
    this.#names.set(id, { acknowledged: name, maybe: null });
    this.#writes++;
  }
}
