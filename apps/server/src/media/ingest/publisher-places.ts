import { Places } from "../../platform/limits/places.ts";

const MAX_PUBLISHING_PER_CLIENT = 500;
const MAX_WAITING_PER_CLIENT = 200;
/** Of all connections, for those that do not publish yet. */
const WAITING_SHARE = 0.25;
/** Of those, for one client. */
const CLIENT_SHARE = 0.5;

/** A connection, as far as its place is concerned. */
export interface PlacedConnection {
  /** Null for a trusted proxy that names no client: only the limits for all hold. */
  readonly client: string | null;
  /** Its place is another's now. */
  pushOut(): void;
}

type Holder = string | PlacedConnection;

/**
 * Places for the connections of broadcasters. A broadcaster needs a fraction of a second from its connection to its key, so a connection
 * without one does not keep another out: where too many wait, the client with the most of them loses the one that has waited longest. A
 * publisher keeps its place until the end.
 */
export class PublisherPlaces {
  readonly #maxWaiting: number;
  readonly #maxWaitingPerClient: number;
  /** Without a key that was accepted, by client, the oldest of each first. */
  readonly #waiting = new Map<Holder, Set<PlacedConnection>>();
  /** As whose each of them waits: a proxy's header may name its client later. */
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

  /** Its client is known, at once or from a proxy's header. */
  named(connection: PlacedConnection): void {
    if (!this.#waitsAs.has(connection)) return;
    this.#stopWaiting(connection);
    this.#wait(connection);
    const ofClient = this.#waiting.get(holderOf(connection));
    if (ofClient && ofClient.size > this.#maxWaitingPerClient) this.#pushOutOldestOf(ofClient);
  }

  /** Its key was accepted. False where no place is free to publish. */
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

  /** Of clients with equally many, the one that began to wait first. */
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

/** A connection without a client holds its place for itself. */
function holderOf(connection: PlacedConnection): Holder {
  return connection.client ?? connection;
}
