import type { Clock, Timer } from "../clock.ts";
import type { Log } from "../log.ts";
import { sleep } from "../retry.ts";
import { SharedWork } from "../shared-work.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { UploadGate } from "./upload-gate.ts";
import { UploadRefused } from "./upload-refused.ts";
import type { UploadSpool } from "./upload-spool.ts";
import type { UploadTraffic } from "./upload-traffic.ts";

const SWEEP_MS = 30_000;
/** Files moved to the store at a time; to a bucket, each takes bandwidth and two parts in memory. */
const MAX_AT_ONCE = 2;
const CLOSE_WITHIN_MS = 1_000;

export interface UploadDeliverySettings {
  readonly spool: UploadSpool;
  readonly traffic: UploadTraffic;
  readonly gate: UploadGate;
  readonly store: Pick<ObjectStore, "putFile">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Moves complete files from the spool to the object store, and deletes unwanted ones. It starts from the contents of the spool, so that it
 * continues after a kill, and retries if the store was unavailable. Finishing an upload costs the same however many others are in the spool.
 */
export class UploadDelivery {
  readonly #settings: UploadDeliverySettings;
  /** Complete files, by upload id. */
  readonly #whole = new Set<string>();
  #timer: Timer | null = null;
  readonly #running = new SharedWork();
  #again = false;
  #isClosed = false;

  constructor(settings: UploadDeliverySettings) {
    this.#settings = settings;
  }

  get waiting(): number {
    return this.#whole.size;
  }

  /** Find complete files of an earlier run, and begin. */
  async start(): Promise<void> {
    const { spool, clock } = this.#settings;
    for (const id of await spool.ids()) await this.#find(id);
    this.#timer ??= clock.every(SWEEP_MS, () => void this.sweep());
    void this.sweep();
  }

  /** A file is complete. Resolves when it has been delivered, or could not be for now; never rejects. */
  deliver(id: string): Promise<void> {
    this.#whole.add(id);
    return this.#run();
  }

  /** Deliver complete files, and delete unwanted ones. Never rejects. */
  async sweep(): Promise<void> {
    try {
      await this.#removeUnwanted();
    } catch (error) {
      this.#settings.log.warn({ err: error }, "could not look through the spool of uploads; it will be tried again");
    }
    await this.#run();
  }

  /** A running put may end within a second; otherwise it is repeated after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await Promise.race([this.#running.settled(), sleep(this.#settings.clock, CLOSE_WITHIN_MS)]);
  }

  async #removeUnwanted(): Promise<void> {
    const { spool, traffic, gate, log } = this.#settings;
    const ids = await spool.ids();
    if (ids.length === 0) return;
    const wanted = await gate.wanted(ids);
    for (const id of ids) {
      if (traffic.isWriting(id)) continue;
      // It may be complete without a request that said so: its last one failed after the last byte.
      if (wanted.has(id)) {
        await this.#find(id);
        continue;
      }
      this.#whole.delete(id);
      await spool.remove(id).catch((error: unknown) => {
        log.warn({ err: error, uploadId: id }, "an unwanted upload could not be removed; it will be tried again");
      });
    }
  }

  /** Note an upload that is complete. One that cannot be read holds up no others. */
  async #find(id: string): Promise<void> {
    const { spool, log } = this.#settings;
    if (this.#whole.has(id)) return;
    try {
      if ((await spool.find(id))?.isComplete) this.#whole.add(id);
    } catch (error) {
      log.warn({ err: error, uploadId: id }, "an upload in the spool cannot be read; it will be tried again");
    }
  }

  /** One round at a time; a call during a round starts another one after it. */
  #run(): Promise<void> {
    this.#again = true;
    return this.#running.run(() => this.#rounds());
  }

  async #rounds(): Promise<void> {
    while (this.#again && !this.#isClosed) {
      this.#again = false;
      const left = [...this.#whole].values();
      await Promise.all(
        Array.from({ length: MAX_AT_ONCE }, async () => {
          for (const id of left) if (!this.#isClosed) await this.#deliver(id);
        }),
      );
    }
  }

  async #deliver(id: string): Promise<void> {
    const { spool, gate, store, log } = this.#settings;
    try {
      const upload = await spool.find(id);
      if (!upload?.isComplete) return void this.#whole.delete(id);
      await store.putFile(await gate.received(id, upload.offset), spool.pathOf(id));
      await gate.stored(id);
      await spool.remove(id);
      this.#whole.delete(id);
    } catch (error) {
      // Nobody wants the file any more: the next sweep removes it.
      if (error instanceof UploadRefused) return;
      log.warn({ err: error, uploadId: id }, "an upload did not get to the object store; it will be tried again");
    }
  }
}
