import type { Timer } from "../../../platform/clock.ts";
import { SharedWork } from "../../../platform/shared-work.ts";
import { PacedMemory } from "./paced-memory.ts";
import { PullRun, type PullRunSettings } from "./pull-run.ts";

/** A pull that was started, or whose first viewer came, begins within this time, and one that was stopped ends. */
const POLL_MS = 1_000;
/** Of one node. */
const MAX_PULLS = 500;

/**
 * The streams that this node pulls: one run for each lease, however often a pull is started and stopped. Leases are read in a poll of their own: the
 * node's heartbeat answers for what is live, and must not wait for a claim.
 */
export class Pulls {
  readonly #settings: PullRunSettings;
  readonly #runs = new Map<string, { readonly run: PullRun; readonly done: Promise<void> }>();
  #poll: Timer | null = null;
  readonly #claiming = new SharedWork();

  constructor(settings: Omit<PullRunSettings, "memory">) {
    this.#settings = { ...settings, memory: new PacedMemory() };
  }

  start(): void {
    this.#poll = this.#settings.publishing.clock.every(POLL_MS, () => void this.look());
  }

  get count(): number {
    return this.#runs.size;
  }

  /** Compares the runs with the leases. One look at a time. */
  look(): Promise<void> {
    return this.#claiming.run(() => this.#compare());
  }

  /** No new runs; present ones go on. */
  stopClaiming(): void {
    this.#poll?.cancel();
    this.#poll = null;
  }

  async close(): Promise<void> {
    this.stopClaiming();
    await this.#claiming.settled();
    for (const { run } of this.#runs.values()) run.stop("The server is shutting down.");
    await Promise.all([...this.#runs.values()].map(({ done }) => done));
  }

  async #compare(): Promise<void> {
    const { gate, publishing } = this.#settings;
    try {
      const leases = await gate.claim(Math.max(0, MAX_PULLS - this.#runs.size));
      const held = new Map(leases.map((lease) => [lease.streamId, lease]));
      for (const [streamId, { run }] of this.#runs) {
        const lease = held.get(streamId);
        if (lease?.version !== run.lease.version) run.stop("The stream is no longer pulled, or from another source.");
        else if (!lease.isWatched) run.stop("Nobody watches the stream.", "clean-stop");
      }
      // One that was started anew begins at the next look, behind the end of the one before.
      for (const lease of leases)
        if (this.#poll && lease.isWatched && !this.#runs.has(lease.streamId) && this.#runs.size < MAX_PULLS)
          this.#begin(new PullRun(lease, this.#settings));
    } catch (error) {
      publishing.log.warn({ err: error }, "could not read which streams to pull; present ones go on");
    }
  }

  #begin(run: PullRun): void {
    const { streamId } = run.lease;
    const done = run.run().then(() => void this.#runs.delete(streamId));
    this.#runs.set(streamId, { run, done });
  }
}
