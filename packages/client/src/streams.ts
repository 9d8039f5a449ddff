import type {
  ListFilter,
  NewStream,
  NewTargetRef,
  Pull,
  PullTrial,
  RefusedPublish,
  Stream,
  StreamEvent,
  StreamHealth,
  StreamPatch,
} from "@weir/contract";
import { type EventOptions, readEvents } from "./events.ts";
import { fetchPage } from "./list-operation.ts";
import { call } from "./operation.ts";
import { eachOf, type ListOptions, type Page } from "./page.ts";
import { type CallOptions, callOptionsIn, type Transport } from "./transport.ts";

/** One field to sort streams by. */
export interface StreamOrder {
  readonly field: string;
  readonly descending: boolean;
}

/** Filters for listing streams. */
export interface StreamListOptions extends ListOptions {
  /** Only streams whose name contains this text, in any case. */
  readonly name?: string | undefined;
  /** Only streams that are live or reconnecting; with false, only those that are not. */
  readonly active?: boolean | undefined;
  readonly suspended?: boolean | undefined;
  /** Only live streams without a harmful issue; with false, only active streams with one. */
  readonly healthy?: boolean | undefined;
  /** Only streams that record their sessions; with false, only those that do not. */
  readonly record?: boolean | undefined;
  /** Only streams created at or after this time, in milliseconds since the epoch. */
  readonly createdSince?: number | undefined;
  /** A field of the stream, or several in the order of their importance; by default, the stream that was live last comes first. */
  readonly orderBy?: StreamOrder | readonly StreamOrder[] | undefined;
}

/** What to delete together with a stream. */
export interface StreamDeleteOptions extends CallOptions {
  /** Also delete the recordings of all its sessions. Otherwise they continue to play. */
  readonly recordings?: boolean | undefined;
}

/** Streams of the key's project: `/api/stream`. */
export class Streams {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Create a stream. The response contains its `streamKey`. */
  create(stream: NewStream, options: CallOptions = {}): Promise<Stream> {
    return call(this.#transport, "POST /api/stream", { ...options, body: stream });
  }

  /** Get a stream. Throws WeirError 404 for an unknown one. */
  get(id: string, options: CallOptions = {}): Promise<Stream> {
    return call(this.#transport, "GET /api/stream/:id", { ...options, params: { id } });
  }

  /** Get the stream that plays under this playback id. Throws WeirError 404. */
  getByPlaybackId(playbackId: string, options: CallOptions = {}): Promise<Stream> {
    return call(this.#transport, "GET /api/stream/playback/:id", { ...options, params: { id: playbackId } });
  }

  /** Get the stream that is published with this stream key. Throws WeirError 404. */
  getByKey(streamKey: string, options: CallOptions = {}): Promise<Stream> {
    return call(this.#transport, "GET /api/stream/key/:id", { ...options, params: { id: streamKey } });
  }

  /** One page, the stream that was live last first. */
  list({ limit, cursor, orderBy, ...options }: StreamListOptions = {}): Promise<Page<Stream>> {
    const [given, wanted] = callOptionsIn(options);
    return fetchPage(this.#transport, "GET /api/stream", {
      ...given,
      query: { limit, cursor, order: orderBy && orderOf([orderBy].flat()), filters: filtersOf(wanted) },
    });
  }

  /** Every stream, page after page. */
  each(options: StreamListOptions = {}): AsyncGenerator<Stream, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Change the given fields; the rest stays. Throws WeirError 400 for a field that cannot change during a broadcast. */
  patch(id: string, changes: StreamPatch, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "PATCH /api/stream/:id", { ...options, params: { id }, body: changes });
  }

  /** Set the image that viewers of a stream with `slate: "image"` see while its broadcaster is away: a PNG or JPEG of at most 512 KB, in base64. Null takes it away. */
  setSlateImage(id: string, image: string | null, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "PUT /api/stream/:id/slate-image", { ...options, params: { id }, body: { image } });
  }

  /** Delete a stream at once: its broadcaster is disconnected and its viewers are refused. */
  delete(id: string, { recordings, ...options }: StreamDeleteOptions = {}): Promise<void> {
    const query = recordings ? { recordings: "true" } : {};
    return call(this.#transport, "DELETE /api/stream/:id", { ...options, params: { id }, query });
  }

  /** Delete all of these streams. If one of them is unknown, throws WeirError 404 and deletes none. */
  deleteMany(ids: readonly string[], { recordings, ...options }: StreamDeleteOptions = {}): Promise<void> {
    const query = recordings ? { recordings: "true" } : {};
    return call(this.#transport, "DELETE /api/stream", { ...options, body: { ids: [...ids] }, query });
  }

  /** Suspend a stream: it refuses broadcasters and viewers, and its broadcast ends at once. False lifts the suspension. */
  suspend(id: string, suspended = true, options: CallOptions = {}): Promise<void> {
    return this.patch(id, { suspended }, options);
  }

  /** Disconnect the broadcaster and end the session. The broadcaster may publish again at once. */
  terminate(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/stream/:id/terminate", { ...options, params: { id } });
  }

  /** Replace the stream key; the response contains the new one. A broadcaster with the old key is disconnected. */
  rotateKey(id: string, options: CallOptions = {}): Promise<Stream> {
    return call(this.#transport, "POST /api/stream/:id/rotate-key", { ...options, params: { id } });
  }

  /** The refused publish attempts of the last 15 minutes, newest first. Throws WeirError 404. */
  refusedPublishes(id: string, options: CallOptions = {}): Promise<RefusedPublish[]> {
    return call(this.#transport, "GET /api/stream/:id/refused-publishes", { ...options, params: { id } });
  }

  /** Forward the stream to one more target, at once if it is live. */
  addTarget(id: string, target: NewTargetRef, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "POST /api/stream/:id/create-multistream-target", {
      ...options,
      params: { id },
      body: target,
    });
  }

  /** Stop forwarding the stream to this target, or one `profile` of it. The target stays. */
  removeTarget(
    id: string,
    targetId: string,
    { profile, ...options }: CallOptions & { readonly profile?: string } = {},
  ): Promise<void> {
    return call(this.#transport, "DELETE /api/stream/:id/multistream/:targetId", {
      ...options,
      query: { profile },
      params: { id, targetId },
    });
  }

  /** The stream's health: conditions with their history, metrics, multistream targets. */
  health(id: string, options: CallOptions = {}): Promise<StreamHealth> {
    return call(this.#transport, "GET /api/data/stream/:id/health", { ...options, params: { id } });
  }

  /** The stream's events, in order, each once. The feed reconnects by itself and loses nothing. */
  events(id: string, options: EventOptions = {}): AsyncGenerator<StreamEvent, void> {
    return readEvents(this.#transport, id, options);
  }

  /** Create the stream of a source, or replace the one with the same source, and pull it. */
  pull(stream: NewStream, options: CallOptions = {}): Promise<Stream> {
    return call(this.#transport, "PUT /api/stream/pull", { ...options, body: stream });
  }

  /** Begin to pull the stream from its source. Throws WeirError 400 where it has none. */
  startPull(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "POST /api/stream/:id/start-pull", { ...options, params: { id } });
  }

  /** What a source has, or what is wrong with it. Takes at most 10 s. Throws WeirError 429 after 10 trials of a project in a minute. */
  tryPull(pull: Pull, options: CallOptions = {}): Promise<PullTrial> {
    return call(this.#transport, "POST /api/stream/pull/try", { ...options, body: pull });
  }

  /** Let the server publish a test picture with a clock and a tone to the stream. */
  testBroadcast(id: string, options: CallOptions & { readonly seconds?: number } = {}): Promise<void> {
    const { seconds, ...rest } = options;
    const body = seconds === undefined ? {} : { seconds };
    return call(this.#transport, "POST /api/stream/:id/test-broadcast", { ...rest, params: { id }, body });
  }
}

function filtersOf({ name, active, suspended, healthy, record, createdSince }: StreamListOptions): string | undefined {
  const filters: ListFilter[] = [
    { id: "name", value: name || undefined },
    { id: "isActive", value: active },
    { id: "suspended", value: suspended },
    { id: "isHealthy", value: healthy },
    { id: "record", value: record },
    { id: "createdAt", value: createdSince === undefined ? undefined : { gte: createdSince } },
  ].filter(({ value }) => value !== undefined);
  return filters.length > 0 ? JSON.stringify(filters) : undefined;
}

function orderOf(fields: readonly StreamOrder[]): string {
  return fields.map(({ field, descending }) => `${field}-${descending}`).join(",");
}
