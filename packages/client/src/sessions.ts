import type { Session } from "@weir/contract";
import { fetchPage } from "./list-operation.ts";
import { call } from "./operation.ts";
import { eachOf, type ListOptions, type Page } from "./page.ts";
import { type CallOptions, callOptionsIn, type Transport } from "./transport.ts";

/** Filters for listing sessions. */
export interface SessionListOptions extends ListOptions {
  readonly streamId?: string | undefined;
  /** Only sessions that started at or after this time, in milliseconds since the epoch. */
  readonly createdSince?: number | undefined;
}

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
  list({ streamId, createdSince, ...options }: SessionListOptions = {}): Promise<Page<Session>> {
    const filters =
      createdSince === undefined ? undefined : JSON.stringify([{ id: "createdAt", value: { gte: createdSince } }]);
    const [given, query] = callOptionsIn(options);
    return fetchPage(this.#transport, "GET /api/session", {
      ...given,
      query: { ...query, parentId: streamId, filters },
    });
  }

  /** One page of one stream's sessions, newest first. */
  ofStream(streamId: string, options: ListOptions = {}): Promise<Page<Session>> {
    const [given, query] = callOptionsIn(options);
    return fetchPage(this.#transport, "GET /api/stream/:id/sessions", { ...given, params: { id: streamId }, query });
  }

  /** Delete the recording of a session. It stops playing at once. Throws WeirError 409 while the session is live. */
  deleteRecording(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/session/:id", { ...options, params: { id } });
  }

  /** Delete the recordings of all of these sessions. If one of them is unknown or live, throws WeirError and deletes none. */
  deleteRecordings(ids: readonly string[], options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/session", { ...options, body: { ids: [...ids] } });
  }

  /** Every session, page after page. */
  each(options: SessionListOptions = {}): AsyncGenerator<Session, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }
}
