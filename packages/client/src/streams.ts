import type { ListFilter, NewStream, Stream, StreamPatch } from "@weir/contract";
import { eachOf, fetchPage, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface StreamListOptions extends ListOptions {
  /** Only streams whose name contains this text, in any case. */
  readonly name?: string | undefined;
  /** Only streams that are live or reconnecting. */
  readonly active?: boolean | undefined;
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
  list({ name, active, limit, cursor, signal }: StreamListOptions = {}): Promise<Page<Stream>> {
    const wanted: ListFilter[] = [];
    if (name) wanted.push({ id: "name", value: name });
    if (active) wanted.push({ id: "isActive", value: true });
    const filters = wanted.length > 0 ? JSON.stringify(wanted) : undefined;
    return fetchPage(this.#transport, "/api/stream", { limit, cursor, filters }, { signal });
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

  /** Disconnects the publisher and ends the session. It may publish again at once. */
  async terminate(id: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("DELETE", `${pathOf(id)}/terminate`, call);
  }

  /** Lets the server itself publish a moving picture with a clock and a tone to the stream. */
  async testBroadcast(id: string, options: CallOptions & { readonly seconds?: number } = {}): Promise<void> {
    const { seconds, ...call } = options;
    const body = seconds === undefined ? {} : { seconds };
    await this.#transport.send("POST", `${pathOf(id)}/test-broadcast`, { ...call, body });
  }
}

function pathOf(id: string): string {
  return `/api/stream/${encodeURIComponent(id)}`;
}
