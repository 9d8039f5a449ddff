import { Places } from "../../../platform/limits/places.ts";

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

/**
 * Places for RTMP connections. A broadcaster needs a fraction of a second from its connection to its key, so a connection without one does not
 * keep another out: where too many wait, the one that has waited longest goes. Who publishes keeps the place until the end.
 */
export class PublisherPlaces {
  readonly #maxWaiting: number;
  readonly #maxWaitingPerClient: number;
  /** Without a key that was accepted, the oldest first. */
  readonly #waiting = new Set<PlacedConnection>();
  readonly #publishing: Places<string | PlacedConnection>;
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
    this.#waiting.add(connection);
    this.#keepTo(this.#maxWaiting, () => true);
  }

  /** Its client is known, at once or from a proxy's header. */
  named(connection: PlacedConnection): void {
    const { client } = connection;
    if (client !== null) this.#keepTo(this.#maxWaitingPerClient, (other) => other.client === client);
  }

  /** Its key was accepted. False where no place is free to publish. */
  publishes(connection: PlacedConnection): boolean {
    if (!this.#publishing.take(holderOf(connection))) return false;
    this.#waiting.delete(connection);
    this.#published.add(connection);
    return true;
  }

  leave(connection: PlacedConnection): void {
    this.#waiting.delete(connection);
    if (this.#published.delete(connection)) this.#publishing.giveBack(holderOf(connection));
  }

  #keepTo(most: number, isCounted: (connection: PlacedConnection) => boolean): void {
    let oldest: PlacedConnection | null = null;
    let count = 0;
    for (const connection of this.#waiting) {
      if (!isCounted(connection)) continue;
      oldest ??= connection;
      count++;
    }
    if (!oldest || count <= most) return;
    this.#waiting.delete(oldest);
    oldest.pushOut();
  }
}

/** A connection without a client holds its place for itself. */
function holderOf(connection: PlacedConnection): string | PlacedConnection {
  return connection.client ?? connection;
}
