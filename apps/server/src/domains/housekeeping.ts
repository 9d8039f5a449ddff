import { sql } from "kysely";
import type { Timer } from "../platform/clock.ts";
import { SharedWork } from "../platform/shared-work.ts";
import {
  type AssetUpkeepDeps,
  expireUploads,
  purgeDeletedAssets,
  queueQuietAssets,
  removeUnwantedOriginals,
} from "./assets/index.ts";
import type { Duty } from "./duty.ts";
import { endOverdueWindows, releaseStreamsOfGoneNodes, type StreamHousekeepingDeps } from "./live/index.ts";
import { hasExpiredNodes, type NodeMembership } from "./nodes/index.ts";
import {
  type FinaliserDeps,
  purgeDeletedRecordings,
  type RetentionDeps,
  settleRecordings,
} from "./recordings/index.ts";
import type { Db } from "./schema.ts";
import { forgetFailedTranscodes, queueQuietTranscodes, type TranscodeUpkeepDeps } from "./transcodes/index.ts";
import { forgetOldCounts } from "./views/index.ts";

interface HousekeepingDeps
  extends StreamHousekeepingDeps,
    FinaliserDeps,
    RetentionDeps,
    AssetUpkeepDeps,
    TranscodeUpkeepDeps {
  readonly store: AssetUpkeepDeps["store"];
  /** Prepares its statements. */
  readonly vital: Db;
}

const TICK_MS = 1_000;
const HOURLY_MS = 3_600_000;

/** In this order: the streams of lost nodes are released in the round that finds the nodes lost. */
const DUTIES: readonly Duty<HousekeepingDeps>[] = [
  releaseStreamsOfGoneNodes,
  endOverdueWindows,
  settleRecordings,
  purgeDeletedRecordings,
  expireUploads,
  queueQuietAssets,
  queueQuietTranscodes,
  forgetFailedTranscodes,
  removeUnwantedOriginals,
  purgeDeletedAssets,
  forgetOldCounts,
];

/**
 * Periodic work without a trigger, once a second, in the worker role: reconnect windows end, leases of nodes expire, recordings settle, deleted
 * bytes are removed; hourly, partitions of the event log are created and dropped. It works from the database and the clock only, and any number
 * of processes may run it. One query finds out whether anything is due; mostly nothing is.
 */
export class Housekeeping {
  readonly #deps: HousekeepingDeps;
  readonly #node: NodeMembership;
  #timer: Timer | null = null;
  readonly #running = new SharedWork();
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
    return this.#running.run(() => this.#round());
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    await this.#running.settled();
  }

  async #round(): Promise<void> {
    const deps = this.#deps;
    await this.#try("find out what is due", async () => {
      if (!(await this.#isAnythingDue())) return;
      await this.#try("expire the leases of nodes", () => this.#node.expireOthers());
      for (const duty of DUTIES) await this.#try(duty.what, () => duty.run(deps));
    });
    const now = deps.clock.monotonic();
    if (now < this.#hourlyAt) return;
    this.#hourlyAt = now + HOURLY_MS;
    await this.#try("maintain the event log", () => deps.events.partitions.maintain(deps.db, deps.clock.now()));
  }

  async #isAnythingDue(): Promise<boolean> {
    const { vital, clock } = this.#deps;
    const now = clock.now();
    const due = sql.join([hasExpiredNodes, ...DUTIES.map((duty) => duty.isDue(now))], sql` or `);
    const { rows } = await sql<{ due: boolean }>`select ${due} as due`.execute(vital);
    return rows[0]?.due === true;
  }

  async #try(what: string, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#deps.log.error({ err: error }, `housekeeping could not ${what}; it will try again`);
    }
  }
}
