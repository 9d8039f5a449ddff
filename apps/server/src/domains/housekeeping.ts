import { sql } from "kysely";
import type { Timer } from "../platform/clock.ts";
import { sleep } from "../platform/retry.ts";
import { SharedWork } from "../platform/shared-work.ts";
import {
  type AssetUpkeepDeps,
  expireUploads,
  failLostUploads,
  purgeDeletedAssets,
  queueQuietAssets,
  removeUnwantedOriginals,
} from "./assets/index.ts";
import type { Duty } from "./duty.ts";
import { endOverdueWindows, releaseStreamsOfGoneNodes, type StreamHousekeepingDeps } from "./live/index.ts";
import { contractSchema, hasExpiredNodes, type NodeMembership, type OpenSchema } from "./nodes/index.ts";
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
  readonly schema?: OpenSchema | undefined;
  /** Prepares its statements. */
  readonly vital: Db;
}

const TICK_MS = 1_000;
const HOURLY_MS = 3_600_000;
const CLOSE_WITHIN_MS = 2_000;

/** In this order: the streams of lost nodes are released in the round that finds the nodes lost. */
const DUTIES: readonly Duty<HousekeepingDeps>[] = [
  releaseStreamsOfGoneNodes,
  endOverdueWindows,
  settleRecordings,
  expireUploads,
  failLostUploads,
  queueQuietAssets,
  queueQuietTranscodes,
  forgetFailedTranscodes,
  forgetOldCounts,
  contractSchema,
];

/** They wait for the object store, which may hang: no other duty waits for them. */
const REMOVALS: readonly Duty<HousekeepingDeps>[] = [
  purgeDeletedRecordings,
  removeUnwantedOriginals,
  purgeDeletedAssets,
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
  #isClosed = false;
  readonly #running = new SharedWork();
  readonly #removing = new SharedWork();
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
    return this.#running.run(() => this.#round()).then(() => this.#removing.settled());
  }

  /** A running duty has 2 s to end, for an object store may be slow; whoever runs the next round does the rest. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await Promise.race([
      Promise.all([this.#running.settled(), this.#removing.settled()]),
      sleep(this.#deps.clock, CLOSE_WITHIN_MS),
    ]);
  }

  async #round(): Promise<void> {
    const deps = this.#deps;
    await this.#try("find out what is due", async () => {
      if (!(await this.#isAnythingDue())) return;
      await this.#try("expire the leases of nodes", () => this.#node.expireOthers());
      for (const duty of DUTIES) await this.#try(duty.what, () => duty.run(deps));
      void this.#removing.run(async () => {
        for (const duty of REMOVALS) await this.#try(duty.what, () => duty.run(deps));
      });
    });
    const now = deps.clock.monotonic();
    if (now < this.#hourlyAt) return;
    this.#hourlyAt = now + HOURLY_MS;
    await this.#try("maintain the event log", () => deps.events.partitions.maintain(deps.db, deps.clock.now()));
  }

  async #isAnythingDue(): Promise<boolean> {
    const { vital, clock } = this.#deps;
    const now = clock.now();
    const due = sql.join(
      [hasExpiredNodes, ...[...DUTIES, ...REMOVALS].map((duty) => duty.isDue(now, this.#deps))],
      sql` or `,
    );
    const { rows } = await sql<{ due: boolean }>`select ${due} as due`.execute(vital);
    return rows[0]?.due === true;
  }

  async #try(what: string, action: () => Promise<void>): Promise<void> {
    if (this.#isClosed) return;
    try {
      await action();
    } catch (error) {
      if (!this.#isClosed) this.#deps.log.error({ err: error }, `housekeeping could not ${what}; it will try again`);
    }
  }
}
