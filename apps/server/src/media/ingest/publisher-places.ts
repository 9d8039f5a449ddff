import { Places } from "../../platform/limits/places.ts";

const MAX_PUBLISHING_PER_CLIENT = 500;
const MAX_WAITING_PER_CLIENT = 200;
/** Share of all connections for those that do not publish yet. */
const WAITING_SHARE = 0.25;
/** Share of those for one client. */
const CLIENT_SHARE = 0.5;

/** A connection that occupies a slot. */
export interface PlacedConnection {
  /** Null for a trusted proxy that names no client; only the total limits apply to it. */
  readonly client: string | null;
  /** Its slot is given to another connection. */
  pushOut(): void;
}

type Holder = string | PlacedConnection;

/**
 * Slots for broadcasters' connections. A broadcaster sends its key within a fraction of a second, so connections without a key must not block
 * others: if too many wait, the client with the most waiting connections loses its oldest one. A publisher keeps its slot until the end.
 */
export class PublisherPlaces {
  readonly #maxWaiting: number;
  readonly #maxWaitingPerClient: number;
  /** Connections without an accepted key, by client, oldest first. */
  readonly #waiting = new Map<Holder, Set<PlacedConnection>>();
  /** The client under which each connection waits; a proxy's header may change it later. */
  readonly #waitsAs = new Map<PlacedConnection, Holder>();
  readonly #publishing: Places<Holder>;
  readonly #published = new Set<PlacedConnection>();

  constructor(connections: number) {
    this.#maxWaiting = Math.max(1, Math.floor(connections * WAITING_SHARE));
    this.#maxWaitingPerClient = Math.max(
      1,
      Math.min(MAX_WAITING_PER_CLIENT, Math.floor(this.#maxWaiting * CLIENT_SHARE)),
    );
    this.#publishing = new Places({
      inAll: connections - this.#maxWaiting,
      perHolder: MAX_PUBLISHING_PER_CLIENT,
    });
  }

  enter(connection: PlacedConnection): void {
    this.#wait(connection);
    if (this.#waitsAs.size > this.#maxWaiting) this.#pushOutOldestOf(this.#largest());
  }

  /** The client is known, immediately or from a proxy's header. */
  named(connection: PlacedConnection): void {
    if (!this.#waitsAs.has(connection)) return;
    this.#stopWaiting(connection);
    this.#wait(connection);
    const ofClient = this.#waiting.get(holderOf(connection));
    if (ofClient && ofClient.size > this.#maxWaitingPerClient) this.#pushOutOldestOf(ofClient);
  }

  /** The key was accepted. Returns false if no publisher slot is free. */
  publishes(connection: PlacedConnection): boolean {
    if (!this.#publishing.take(holderOf(connection))) return false;
    this.#stopWaiting(connection);
    this.#published.add(connection);
    return true;
  }

  leave(connection: PlacedConnection): void {
    this.#stopWaiting(connection);
    if (this.#published.delete(connection)) this.#publishing.giveBack(holderOf(connection));
  }

  #wait(connection: PlacedConnection): void {
    const holder = holderOf(connection);
    const ofHolder = this.#waiting.get(holder) ?? new Set();
    this.#waiting.set(holder, ofHolder.add(connection));
    this.#waitsAs.set(connection, holder);
  }

  #stopWaiting(connection: PlacedConnection): void {
    const holder = this.#waitsAs.get(connection);
    if (holder === undefined) return;
    this.#waitsAs.delete(connection);
    const ofHolder = this.#waiting.get(holder);
    ofHolder?.delete(connection);
    if (ofHolder?.size === 0) this.#waiting.delete(holder);
  }

  /** If several clients have equally many, the one that started waiting first. */
  #largest(): ReadonlySet<PlacedConnection> {
    let largest: ReadonlySet<PlacedConnection> = new Set();
    for (const ofHolder of this.#waiting.values()) if (ofHolder.size > largest.size) largest = ofHolder;
    return largest;
  }

  #pushOutOldestOf(connections: ReadonlySet<PlacedConnection>): void {
    const [oldest] = connections;
    if (!oldest) return;
    this.#stopWaiting(oldest);
    oldest.pushOut();
  }
}

/** A connection without a client holds its slot by itself. */
function holderOf(connection: PlacedConnection): Holder {
  return connection.client ?? connection;
}
