import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { Places } from "../../../platform/limits/places.ts";

const MAX_WAITS = 20_000;
/** The rest is for other streams. */
const MAX_PER_STREAM = 15_000;
/** A thousand viewers behind one address, each with requests for two playlists and the next part of both. */
const MAX_PER_CLIENT = 5_000;
/** A player has one request at a time on a connection. More of them were sent without waiting for answers. */
const MAX_PER_CONNECTION = 4;

/** `connection`: this one has as many waiting as it may. `server`: its client, the stream or the server has. */
export type NoRoom = "connection" | "server";

export interface WaitPlace {
  readonly connection: Socket;
  readonly client: string;
  readonly playbackId: string;
}

/** Places for waiting requests: per connection, client and stream as well as in all, so that none of them takes the places of others. */
export class WaitPlaces {
  readonly #proxies: TrustedProxies;
  readonly #connections = new Places<Socket>({ inAll: MAX_WAITS, perHolder: MAX_PER_CONNECTION });
  readonly #clients = new Places({ inAll: MAX_WAITS, perHolder: MAX_PER_CLIENT });
  readonly #streams = new Places({ inAll: MAX_WAITS, perHolder: MAX_PER_STREAM });

  constructor(proxies: TrustedProxies) {
    this.#proxies = proxies;
  }

  get taken(): number {
    return this.#clients.taken;
  }

  take(req: IncomingMessage, playbackId: string): WaitPlace | NoRoom {
    const connection = req.socket;
    if (this.#connections.heldBy(connection) >= MAX_PER_CONNECTION) return "connection";
    const client = this.#proxies.clientOf(req);
    if (!this.#clients.take(client)) return "server";
    if (!this.#streams.take(playbackId)) {
      this.#clients.giveBack(client);
      return "server";
    }
    this.#connections.take(connection);
    return { connection, client, playbackId };
  }

  giveBack({ connection, client, playbackId }: WaitPlace): void {
    this.#connections.giveBack(connection);
    this.#clients.giveBack(client);
    this.#streams.giveBack(playbackId);
  }
}
