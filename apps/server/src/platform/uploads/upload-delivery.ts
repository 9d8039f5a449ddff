import type { Clock, Timer } from "../clock.ts";
import type { Log } from "../log.ts";
import { sleep } from "../retry.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { UploadGate } from "./upload-gate.ts";
import type { UploadSpool } from "./upload-spool.ts";
import type { UploadTraffic } from "./upload-traffic.ts";

const SWEEP_MS = 30_000;
/** Files that are put into the store at a time; to a bucket each takes bandwidth and two parts in memory. */
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
 * Takes whole files from the spool to the object store, and removes those that nobody wants any more. Works by what lies in the spool alone, so that it
 * goes on after a kill, and where the store was away.
 */
export class UploadDelivery {
  readonly #settings: UploadDeliverySettings;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;
  #again = false;
  #isClosed = false;

  constructor(settings: UploadDeliverySettings) {
    this.#settings = settings;
  }

  start(): void {
    this.#timer ??= this.#settings.clock.every(SWEEP_MS, () => void this.run());
    void this.run();
  }

  /** Deliver what is whole; never rejects. A call while one runs makes another run after it. */
  run(): Promise<void> {
    this.#again = true;
    this.#running ??= this.#rounds().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** What is being put into the store may end within a second; else it is put there again after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await Promise.race([this.#running, sleep(this.#settings.clock, CLOSE_WITHIN_MS)]);
  }

  async #rounds(): Promise<void> {
    while (this.#again && !this.#isClosed) {
      this.#again = false;
      try {
        await this.#round();
      } catch (error) {
        this.#settings.log.warn({ err: error }, "could not look through the spool of uploads; it will be tried again");
      }
    }
  }

  async #round(): Promise<void> {
    const { spool, traffic, gate } = this.#settings;
    const ids = await spool.ids();
    if (ids.length === 0) return;
    const wanted = await gate.wanted(ids);
    const idle = ids.filter((id) => !traffic.isWriting(id));
    for (const id of idle) if (!wanted.has(id)) await spool.remove(id);
    const left = idle.filter((id) => wanted.has(id)).values();
    await Promise.all(
      Array.from({ length: MAX_AT_ONCE }, async () => {
        for (const id of left) if (!this.#isClosed) await this.#deliver(id);
      }),
    );
  }

  async #deliver(id: string): Promise<void> {
    const { spool, gate, store, log } = this.#settings;
    try {
      const upload = await spool.find(id);
      if (!upload?.isComplete) return;
      // Told again where a kill came between the last byte and its note.
      await gate.received(id, upload.offset);
      const key = await gate.keyOf(id);
      if (key === null) return;
      await store.putFile(key, spool.pathOf(id));
      await gate.stored(id, key);
      await spool.remove(id);
    } catch (error) {
      log.warn({ err: error, uploadId: id }, "an upload did not get to the object store; it will be tried again");
    }
  }
}
