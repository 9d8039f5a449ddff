import type { Timer } from "../../platform/clock.ts";
import { sleep } from "../../platform/retry.ts";
import { SharedWork } from "../../platform/shared-work.ts";
import { StartupError } from "../../platform/startup-error.ts";
import type { HeldSession } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import type { Trx } from "../schema.ts";
import {
  type ChangedRow,
  expireNodes,
  joinNode,
  moveNode,
  NameInUse,
  NODE_LEASE_SECONDS,
  type NodeRow,
  renewNode,
} from "./node-store.ts";

const HEARTBEAT_MS = 2_000;
/** After a heartbeat that failed: what was lost meanwhile is to be known soon after the database is back. */
const RETRY_MS = 500;
/** How long a start waits between looks at a name that may be in use. */
const LOOK_AGAIN_MS = 500;
/** Facts that wait are written before this node counts as serving again, unless that takes longer. */
const MAX_SETTLE_MS = 2_000;

export interface NodeSettings {
  /** The same across restarts of this node, and different from every other node's. */
  readonly name: string;
  readonly region: string;
  readonly roles: readonly string[];
  /** The data folder, as no other folder of any machine is named; null if that is not known. No two processes run on one. */
  readonly place: string | null;
  /** The newest migration that this build knows; null or absent where nothing is migrated. */
  readonly schemaLevel?: number | null;
  readonly build: string;
  /** Where other nodes reach it, an IP address and a port; null or absent if they do not. */
  readonly address?: string | null;
}

export interface NodeMembershipDeps extends Deps {
  /** The database gave its time in answer to a question of `askedAt`, on the monotonic clock. */
  readonly followClock?: ((databaseNow: number, askedAt: number) => void) | undefined;
  /** Resolves when all waiting facts are in the database, or one attempt has failed. */
  readonly settleFacts: () => Promise<void>;
}

/** What the node serves as its own, to be compared with the rows at each heartbeat. */
export interface Holdings {
  held(): readonly HeldSession[];
  /** The rows that say otherwise. */
  settle(changed: readonly ChangedRow[]): void;
}

const NOTHING_HELD: Holdings = { held: () => [], settle: () => {} };

/**
 * This process's membership: joins, renews its lease every 2 s, leaves. While the database is unavailable the node continues to serve with its
 * current state, however long. Each heartbeat is one statement: it renews the lease, reads the database's clock and compares what the node holds with
 * the rows. Only a node that renewed its own lease without interruption for a whole lease may declare others gone, so that an outage of the
 * database does not look like the death of every node.
 */
export class NodeMembership {
  readonly #deps: NodeMembershipDeps;
  readonly #settings: NodeSettings;
  /** By which a start is told from others under the same name. */
  readonly #startId = newId();
  #name: string;
  #node: NodeRow = { id: newId(), epoch: 0 };
  #draining = false;
  #steadySince: number | null = null;
  #timer: Timer | null = null;
  /** One at a time, however long the database is away. */
  #retry: Timer | null = null;
  readonly #beating = new SharedWork();
  #isClosed = false;
  #holdings = NOTHING_HELD;

  constructor(deps: NodeMembershipDeps, settings: NodeSettings) {
    this.#deps = deps;
    this.#settings = settings;
    this.#name = settings.name;
  }

  /** The node's row id, `nodeId` in events. */
  get id(): string {
    return this.#node.id;
  }

  get address(): string | null {
    return this.#settings.address ?? null;
  }

  get region(): string {
    return this.#settings.region;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** The last heartbeat reached the database. */
  get isSteady(): boolean {
    return this.#steadySince !== null;
  }

  /** From now on, each heartbeat compares what is held. */
  hold(holdings: Holdings): void {
    this.#holdings = holdings;
  }

  /**
   * Join, and let `reconcile` settle what the node held before its restart, in the same transaction. Throws `StartupError` if another running process
   * has the name; a name whose process no longer renews its lease is free when that expires.
   */
  async join(reconcile: (trx: Trx, nodeId: string) => Promise<void>): Promise<void> {
    let seen: NameInUse | null = null;
    for (;;) {
      try {
        await this.#join(reconcile);
        break;
      } catch (error) {
        if (!(error instanceof NameInUse)) throw error;
        if (seen && error.seenAt.getTime() !== seen.seenAt.getTime()) throw inUse(this.#name);
        seen = error;
        await sleep(this.#deps.clock, LOOK_AGAIN_MS);
      }
    }
    this.#timer ??= this.#deps.clock.every(HEARTBEAT_MS, () => void this.heartbeat());
  }

  /** Renew the lease; never throws. While one is under way, another does not begin. */
  heartbeat(): Promise<void> {
    return this.#beating.run(() => this.#beat());
  }

  /** Declare nodes with an expired lease gone. Does nothing until this node's own lease has been steady for a whole lease. */
  async expireOthers(): Promise<void> {
    const { clock, log } = this.#deps;
    if (this.#steadySince === null || clock.monotonic() - this.#steadySince < NODE_LEASE_SECONDS * 1000) return;
    for (const nodeId of await expireNodes(this.#deps.db, this.id))
      log.warn({ nodeId }, "a node's lease expired; treating the node as gone");
  }

  /** Refuse new publishers on this node from now on. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#deps.db.transaction().execute((trx) => moveNode(trx, this.#node, "drain"));
  }

  /** Leave, and let `release` settle what the node still holds, in the same transaction. */
  async leave(release: (trx: Trx, nodeId: string) => Promise<void>): Promise<void> {
    this.close();
    // A heartbeat that finds the node gone would have it rejoin.
    await this.#beating.settled();
    await this.#deps.db.transaction().execute(async (trx) => {
      await moveNode(trx, this.#node, "leave");
      await release(trx, this.#node.id);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = null;
    this.#retry?.cancel();
    this.#retry = null;
  }

  async #beat(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      if ((await this.#renew()) || this.#isClosed) return;
      log.warn({ nodeId: this.id }, "this node was declared gone while it could not reach the database; rejoining");
      // First, so that nobody judges what this node made with half of its facts.
      await Promise.race([this.#deps.settleFacts(), sleep(clock, MAX_SETTLE_MS)]);
      await this.#rejoin();
      await this.#renew();
    } catch (error) {
      this.#steadySince = null;
      if (this.#isClosed) return;
      log.warn({ err: error }, "could not write the node's heartbeat to the database");
      this.#retry ??= clock.after(RETRY_MS, () => {
        this.#retry = null;
        void this.heartbeat();
      });
    }
  }

  /** False if the node is gone, or another process has its name. */
  async #renew(): Promise<boolean> {
    const { db, clock, followClock } = this.#deps;
    const askedAt = clock.monotonic();
    const { isRenewed, now, changed } = await renewNode(db, this.#node, this.#holdings.held());
    followClock?.(now, askedAt);
    if (!isRenewed) return false;
    this.#steadySince ??= clock.monotonic();
    this.#holdings.settle(changed);
    return true;
  }

  /** Its streams keep their epochs, and what nobody else took goes on. */
  async #rejoin(): Promise<void> {
    try {
      await this.#join(async () => {});
    } catch (error) {
      if (!(error instanceof NameInUse)) throw error;
      this.#deps.log.error(inUse(this.#name).message);
      this.#name = newId();
      this.#node = { id: newId(), epoch: 0 };
      await this.#join(async () => {});
    }
  }

  async #join(reconcile: (trx: Trx, nodeId: string) => Promise<void>): Promise<void> {
    const { db, clock, followClock } = this.#deps;
    const { region, roles, place, address = null, schemaLevel = null, build } = this.#settings;
    const askedAt = clock.monotonic();
    const node = await db.transaction().execute(async (trx) => {
      const identity = { id: this.#node.id, name: this.#name, startId: this.#startId };
      const wanted = { ...identity, region, roles: [...roles], place, address, schemaLevel, build };
      const joined = await joinNode(trx, wanted);
      followClock?.(joined.now, askedAt);
      await reconcile(trx, joined.id);
      return joined;
    });
    this.#node = { id: node.id, epoch: node.epoch };
    this.#steadySince = clock.monotonic();
  }
}

function inUse(name: string): StartupError {
  return new StartupError(
    `another running process has this node's name (${name}): its data folder is a copy of this one. Stop that process, or delete the file node-name in this data folder, so that it gets a name of its own`,
  );
}
