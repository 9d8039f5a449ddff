import type { ListFilter, NewStream, Stream, StreamPatch } from "@weir/contract";
import { eachOf, fetchPage, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface StreamListOptions extends ListOptions {
  /** Only streams whose name contains this text, in any case. */
  readonly name?: string | undefined;
  /** Only streams that are live or reconnecting; with false, only those that are not. */
  readonly active?: boolean | undefined;
  readonly suspended?: boolean | undefined;
  /** Only streams whose sessions are recorded; with false, only those whose are not. */
  readonly record?: boolean | undefined;
  /** Only streams made at or after this moment, in milliseconds since the epoch. */
  readonly createdSince?: number | undefined;
}

/** Streams of the key's project: `/api/stream`. */
export class Streams {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  create(stream: NewStream, call: CallOptions = {}): Promise<Stream> {
    return this.#transport.json("POST", "/api/stream", { ...call, body: stream });
  }

  get(id: string, call: CallOptions = {}): Promise<Stream> {
    return this.#transport.json("GET", pathOf(id), call);
  }

  /** One page, the one seen last first. */
  list({ limit, cursor, signal, ...wanted }: StreamListOptions = {}): Promise<Page<Stream>> {
    return fetchPage(this.#transport, "/api/stream", { limit, cursor, filters: filtersOf(wanted) }, { signal });
  }

  /** Every stream, page after page. */
  each(options: StreamListOptions = {}): AsyncGenerator<Stream, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  async patch(id: string, changes: StreamPatch, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("PATCH", pathOf(id), { ...call, body: changes });
  }

  /** The stream is gone at once; a publisher of it is disconnected, viewers are refused. */
  async delete(id: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("DELETE", pathOf(id), call);
  }

  /** Deletes all of these streams; none, with WeirError 404, when one of them is not there. */
  async deleteMany(ids: readonly string[], call: CallOptions = {}): Promise<void> {
    await this.#transport.send("DELETE", "/api/stream", { ...call, body: { ids } });
  }

  /** A suspended stream refuses publishers and viewers, and its broadcast ends at once. False lets it work again. */
  async suspend(id: string, suspended = true, call: CallOptions = {}): Promise<void> {
    await this.patch(id, { suspended }, call);
  }

  /** Disconnects the publisher and ends the session. It may publish again at once. */
  async terminate(id: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("DELETE", `${pathOf(id)}/terminate`, call);
  }

  /** Gives the stream a new key: the answer has it. Who publishes with the old one is disconnected, and may go on with the new one. */
  rotateKey(id: string, call: CallOptions = {}): Promise<Stream> {
    return this.#transport.json("POST", `${pathOf(id)}/rotate-key`, call);
  }

  /** Lets the server itself publish a moving picture with a clock and a tone to the stream. */
  async testBroadcast(id: string, options: CallOptions & { readonly seconds?: number } = {}): Promise<void> {
    const { seconds, ...call } = options;
    const body = seconds === undefined ? {} : { seconds };
    await this.#transport.send("POST", `${pathOf(id)}/test-broadcast`, { ...call, body });
  }
}

function filtersOf({ name, active, suspended, record, createdSince }: StreamListOptions): string | undefined {
  const filters: ListFilter[] = [
    { id: "name", value: name || undefined },
    { id: "isActive", value: active },
    { id: "suspended", value: suspended },
    { id: "record", value: record },
    { id: "createdAt", value: createdSince === undefined ? undefined : { gte: createdSince } },
  ].filter(({ value }) => value !== undefined);
  return filters.length > 0 ? JSON.stringify(filters) : undefined;
}

function pathOf(id: string): string {
  return `/api/stream/${encodeURIComponent(id)}`;
}
