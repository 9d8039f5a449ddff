import type { Timer } from "../platform/clock.ts";
import { type AssetUpkeepDeps, expireUploads, purgeDeletedAssets, queueQuietAssets } from "./assets/index.ts";
import { endOverdueWindows, releaseStreamsOfGoneNodes, type StreamHousekeepingDeps } from "./live/index.ts";
import type { NodeMembership } from "./nodes/index.ts";
import {
  type FinaliserDeps,
  purgeDeletedRecordings,
  type RetentionDeps,
  settleRecordings,
} from "./recordings/index.ts";
import { queueQuietTranscodes, type TranscodeUpkeepDeps } from "./transcodes/index.ts";
import { forgetOldCounts } from "./views/index.ts";

type HousekeepingDeps = StreamHousekeepingDeps & FinaliserDeps & RetentionDeps & AssetUpkeepDeps & TranscodeUpkeepDeps;

const TICK_MS = 1_000;
const HOURLY_MS = 3_600_000;

/**
 * Periodic work without a trigger, once a second, in the worker role: reconnect windows end, leases of nodes expire, recordings settle, deleted
 * bytes are removed; hourly, partitions of the event log are created and dropped. It works from the database and the clock only, and any number
 * of processes may run it.
 */
export class Housekeeping {
  readonly #deps: HousekeepingDeps;
  readonly #node: NodeMembership;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;
  #hourlyAt = 0;

  constructor(deps: HousekeepingDeps, node: NodeMembership) {
    this.#deps = deps;
    this.#node = node;
  }

  start(): void {
    this.#timer ??= this.#deps.clock.every(TICK_MS, () => void this.tick());
  }

  /** One round; never throws. While a round is running, another does not start. */
  tick(): Promise<void> {
    this.#running ??= this.#round().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    await this.#running;
  }

  async #round(): Promise<void> {
    const deps = this.#deps;
    await this.#try("expire the leases of nodes", () => this.#node.expireOthers());
    await this.#try("release the streams of lost nodes", () => releaseStreamsOfGoneNodes(deps));
    await this.#try("end reconnect windows", () => endOverdueWindows(deps));
    await this.#try("settle recordings", () => settleRecordings(deps));
    await this.#try("remove deleted recordings", () => purgeDeletedRecordings(deps));
    await this.#try("expire uploads", () => expireUploads(deps));
    await this.#try("queue assets", () => queueQuietAssets(deps));
    await this.#try("queue files to transcode", () => queueQuietTranscodes(deps));
    await this.#try("remove deleted assets", () => purgeDeletedAssets(deps));
    await this.#try("forget old counts of viewers", () => forgetOldCounts(deps.db, deps.clock.now()));
    const now = deps.clock.monotonic();
    if (now < this.#hourlyAt) return;
    this.#hourlyAt = now + HOURLY_MS;
    await this.#try("maintain the event log", () => deps.events.partitions.maintain(deps.db, deps.clock.now()));
  }

  async #try(what: string, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#deps.log.error({ err: error }, `housekeeping could not ${what}; it will try again`);
    }
  }
}
