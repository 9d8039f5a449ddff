import type { Timer } from "../../platform/clock.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import type { Trx } from "../schema.ts";
import { expireNodes, joinNode, moveNode, NODE_LEASE_SECONDS, type NodeRow, renewNode } from "./node-store.ts";

const HEARTBEAT_MS = 2_000;

export interface NodeSettings {
  /** The same across restarts of this node, and different from every other node's. */
  readonly name: string;
  readonly region: string;
  readonly roles: readonly string[];
}

/**
 * This process's membership: joins, renews its lease every 2 s, leaves. While the database is unavailable the node continues to serve with its
 * current state. Only a node that renewed its own lease without interruption for a whole lease may declare others gone, so that an outage of the
 * database does not look like the death of every node.
 */
export class NodeMembership {
  readonly #deps: Deps;
  readonly #settings: NodeSettings;
  #node: NodeRow = { id: newId(), epoch: 0 };
  #draining = false;
  #steadySince: number | null = null;
  #timer: Timer | null = null;

  constructor(deps: Deps, settings: NodeSettings) {
    this.#deps = deps;
    this.#settings = settings;
  }

  /** The node's row id, `nodeId` in events. */
  get id(): string {
    return this.#node.id;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** Join, and let `reconcile` settle what the node held before its restart, in the same transaction. */
  async join(reconcile: (trx: Trx, nodeId: string) => Promise<void>): Promise<void> {
    const { name, region, roles } = this.#settings;
    this.#node = await this.#deps.db.transaction().execute(async (trx) => {
      const node = await joinNode(trx, { id: this.#node.id, name, region, roles: [...roles] });
      await reconcile(trx, node.id);
      return node;
    });
    this.#steadySince = this.#deps.clock.monotonic();
    this.#timer ??= this.#deps.clock.every(HEARTBEAT_MS, () => void this.heartbeat());
  }

  /** Renew the lease; never throws. */
  async heartbeat(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      if (await renewNode(this.#deps.db, this.#node)) {
        this.#steadySince ??= clock.monotonic();
        return;
      }
      log.warn({ nodeId: this.id }, "this node was declared gone while it could not reach the database; rejoining");
      await this.join(async () => {});
    } catch (error) {
      this.#steadySince = null;
      log.warn({ err: error }, "could not write the node's heartbeat to the database");
    }
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
    await this.#deps.db.transaction().execute(async (trx) => {
      await moveNode(trx, this.#node, "leave");
      await release(trx, this.#node.id);
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}
