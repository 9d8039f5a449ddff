import type { Session } from "@weir/contract";
import { eachOf, fetchPage, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Sessions of the key's project, with their recordings: `/api/session`. */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  get(id: string, call: CallOptions = {}): Promise<Session> {
    return this.#transport.json("GET", `/api/session/${encodeURIComponent(id)}`, call);
  }

  /** One page over all streams, newest first. */
  list({ limit, cursor, signal }: ListOptions = {}): Promise<Page<Session>> {
    return fetchPage(this.#transport, "/api/session", { limit, cursor }, { signal });
  }

  /** One page of one stream's sessions, newest first. */
  ofStream(streamId: string, { limit, cursor, signal }: ListOptions = {}): Promise<Page<Session>> {
    const path = `/api/stream/${encodeURIComponent(streamId)}/sessions`;
    return fetchPage(this.#transport, path, { limit, cursor }, { signal });
  }

  /** Every session, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<Session, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }
}
