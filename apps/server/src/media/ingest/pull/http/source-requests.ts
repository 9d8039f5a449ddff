import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../../platform/clock.ts";
import { type Outbound, PULL } from "../../../../platform/outbound/outbound.ts";
import { failedFor, LOST, SourceProblem } from "../source-problem.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HEAD_WITHIN_MS = 15_000;
/** Between two pieces of a body that is waited for. */
const QUIET_MS = 15_000;
/** From the head of a playlist or a key to its end. */
const WHOLE_WITHIN_MS = 15_000;

export interface SourceRequestSettings {
  readonly url: string;
  /** Sent to the host of the source alone. */
  readonly headers: Readonly<Record<string, string>>;
  readonly outbound: Pick<Outbound, "send">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface SourceBody {
  /** Where it came from at last, which relative addresses in it are resolved with. */
  readonly url: string;
  /** Null where the host does not say. */
  readonly bytes: number | null;
  /** The host says where it ends, if not how long it is. */
  readonly isChunked: boolean;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ByteRange {
  readonly offset: number;
  /** Null: to the end. */
  readonly length: number | null;
}

/** Requests of one source over HTTP. Each address is checked as it is connected to: that of the source, of redirects and of what playlists name. */
export class SourceRequests {
  readonly #settings: SourceRequestSettings;
  readonly #source: URL;

  constructor(settings: SourceRequestSettings) {
    this.#settings = settings;
    this.#source = new URL(settings.url);
  }

  /** Null for 404 and 410. Throws `SourceProblem`, and the signal's reason. */
  async open(url: string, range: ByteRange | null = null): Promise<SourceBody | null> {
    const { outbound, signal } = this.#settings;
    let place = url;
    for (let hops = 0; ; hops++) {
      const { href, headers } = this.#secretsFor(place);
      const answer = await outbound.send({
        ...{ url: href, purpose: PULL, timeoutMs: HEAD_WITHIN_MS, signal },
        headers: {
          "user-agent": "weir",
          ...headers,
          ...(range && {
            range: `bytes=${range.offset}-${range.length === null ? "" : range.offset + range.length - 1}`,
          }),
        },
      });
      if (!answer.ok) throw new SourceProblem(failedFor(answer.message, answer.reason === "refused"));
      const { response, status } = answer;
      const { location } = response.headers;
      if (!REDIRECTS.has(status) || location === undefined) return this.#bodyOf(response, status, href, range);
      response.destroy();
      if (hops >= MAX_REDIRECTS) throw new SourceProblem(`The source redirected more than ${MAX_REDIRECTS} times.`);
      place = childOf(location, href);
    }
  }

  /** The whole body, of at most `limit` bytes. Null for 404 and 410. */
  async whole(
    url: string,
    limit: number,
    range: ByteRange | null = null,
  ): Promise<{ url: string; bytes: Buffer } | null> {
    const body = await this.open(url, range);
    return body && { url: body.url, bytes: await this.readWhole(body.chunks, limit) };
  }

  async readWhole(body: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
    const { clock } = this.#settings;
    const endsAt = clock.monotonic() + WHOLE_WITHIN_MS;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > limit) throw new SourceProblem(`A playlist or key of the source is larger than ${limit} bytes.`);
      if (clock.monotonic() > endsAt) throw new SourceProblem(LOST);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  /** User name, password and headers go to the source's own host, and to no other that it names. */
  #secretsFor(place: string): { href: string; headers: Readonly<Record<string, string>> } {
    const url = new URL(place);
    const isSame = url.origin === this.#source.origin;
    url.username = isSame ? this.#source.username : "";
    url.password = isSame ? this.#source.password : "";
    return { href: url.href, headers: isSame ? this.#settings.headers : {} };
  }

  #bodyOf(response: IncomingMessage, status: number, url: string, range: ByteRange | null): SourceBody | null {
    const length = response.headers["content-length"];
    const isWhole = range === null && status === 200;
    if (isWhole || (range !== null && status === 206)) {
      const isChunked = response.headers["transfer-encoding"] !== undefined;
      const bytes = length === undefined ? null : Number(length);
      return { url, bytes, isChunked, chunks: this.#chunksOf(response) };
    }
    response.destroy();
    if (status === 404 || status === 410) return null;
    if (range !== null && status === 200)
      throw new SourceProblem("The source's server does not answer requests for a part of a file (Range).");
    if (status === 401 || status === 403)
      throw new SourceProblem(`The source answered ${status}. Check its user name, password and headers.`);
    throw new SourceProblem(`The source answered ${status}.`);
  }

  async *#chunksOf(response: IncomingMessage): AsyncGenerator<Uint8Array, void> {
    const { clock, signal } = this.#settings;
    const chunks = (response as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    try {
      for (;;) {
        // Only while it is waited for: a source that is ahead of real time is not read meanwhile.
        const deadline = clock.after(QUIET_MS, () => response.destroy(new Error("nothing came")));
        const next = await chunks.next().finally(() => deadline.cancel());
        if (next.done) break;
        yield next.value;
      }
    } catch {
      signal.throwIfAborted();
      throw new SourceProblem(LOST);
    } finally {
      response.destroy();
    }
    if (!response.complete) throw new SourceProblem(LOST);
  }
}

/** An address that the source names, in full. */
export function childOf(uri: string, base: string): string {
  const url = URL.parse(uri, base);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new SourceProblem("The source leads to something that is no http:// or https:// address.");
  if (new URL(base).protocol === "https:" && url.protocol !== "https:")
    throw new SourceProblem("The source leads from https:// to an address without it.");
  return url.href;
}
