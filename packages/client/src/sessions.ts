import type { Session } from "@weir/contract";
import { call } from "./operation.ts";
import { eachOf, fetchPage, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Sessions of the key's project, with their recordings: `/api/session`. */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Get a session. Throws WeirError 404 for an unknown one. */
  get(id: string, options: CallOptions = {}): Promise<Session> {
    return call(this.#transport, "GET /api/session/:id", { ...options, params: { id } });
  }

  /** One page over all streams, newest first. */
  list({ signal, ...query }: ListOptions = {}): Promise<Page<Session>> {
    return fetchPage(this.#transport, "GET /api/session", { query, signal });
  }

  /** One page of one stream's sessions, newest first. */
  ofStream(streamId: string, { signal, ...query }: ListOptions = {}): Promise<Page<Session>> {
    return fetchPage(this.#transport, "GET /api/stream/:id/sessions", { params: { id: streamId }, query, signal });
  }

  /** Every session, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<Session, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }
}
