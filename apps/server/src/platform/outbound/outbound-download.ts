import type { IncomingMessage } from "node:http";
import type { Clock } from "../clock.ts";
import type { Outbound } from "./outbound.ts";

const MAX_REDIRECTS = 5;
const HEAD_WITHIN_MS = 30_000;
/** Minimum throughput of a response; a slower one is cut off. */
const WINDOW_MS = 30_000;
const MIN_BYTES_PER_WINDOW = 16 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The reason why a file cannot be fetched, as a sentence without the URL. */
export class DownloadFailed extends Error {
  /** A retry would fail in the same way. */
  readonly isFinal: boolean;
  constructor(message: string, { isFinal, cause }: { readonly isFinal: boolean; readonly cause?: unknown }) {
    super(message, { cause });
    this.isFinal = isFinal;
  }
}

export interface DownloadRequest {
  readonly url: string;
  /** Bytes that are already here, of the version of the file that `validator` identifies. */
  readonly offset: number;
  /** `ETag` or `Last-Modified` of the response that delivered them. */
  readonly validator: string | null;
  readonly signal: AbortSignal;
}

export interface Download {
  /** Offset of the first byte: as requested, or 0 if the file has changed or its host does not support ranges. */
  readonly offset: number;
  /** Size of the whole file; null if its host does not say. */
  readonly bytes: number | null;
  readonly validator: string | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Fetches files from customers' URLs. Each redirect is checked like the first URL, and a slow or endless response is cut off. */
export class Downloads {
  readonly #outbound: Pick<Outbound, "send">;
  readonly #clock: Clock;

  constructor(outbound: Pick<Outbound, "send">, clock: Clock) {
    this.#outbound = outbound;
    this.#clock = clock;
  }

  /** Throws `DownloadFailed`, or the signal's reason. */
  async begin(request: DownloadRequest): Promise<Download> {
    const { response, status } = await this.#follow(request);
    try {
      return this.#read(request, response, status);
    } catch (error) {
      response.destroy();
      throw error;
    }
  }

  async #follow({ url, offset, validator, signal }: DownloadRequest) {
    // Without a validator, the rest might belong to another version of the file.
    const resumes = offset > 0 && validator !== null;
    const headers: Record<string, string> = {
      "user-agent": "weir",
      ...(resumes ? { range: `bytes=${offset}-`, "if-range": validator } : {}),
    };
    let place = url;
    for (let hops = 0; ; hops++) {
      const answer = await this.#outbound.send({ url: place, headers, timeoutMs: HEAD_WITHIN_MS, signal });
      if (!answer.ok) throw new DownloadFailed(answer.message, { isFinal: answer.reason === "refused" });
      const { response, status } = answer;
      const location = response.headers.location;
      if (!REDIRECTS.has(status) || location === undefined) return { response, status };
      response.destroy();
      if (hops >= MAX_REDIRECTS)
        throw new DownloadFailed(`the host redirected more than ${MAX_REDIRECTS} times`, { isFinal: true });
      const next = URL.parse(location, place);
      if (!next) throw new DownloadFailed("the host redirected to what is no address", { isFinal: true });
      if (new URL(place).protocol === "https:" && next.protocol !== "https:")
        throw new DownloadFailed("the host redirected from https to an address without it", { isFinal: true });
      place = next.href;
    }
  }

  #read({ offset }: DownloadRequest, response: IncomingMessage, status: number): Download {
    const { headers } = response;
    const validator = strongTag(headers.etag) ?? headers["last-modified"] ?? null;
    if (status === 200) {
      if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity")
        throw new DownloadFailed("the host sends the file in a packed form", { isFinal: true });
      const length = headers["content-length"];
      const bytes = length === undefined ? null : Number(length);
      return { offset: 0, bytes, validator, chunks: this.#chunksOf(response) };
    }
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers["content-range"] ?? "");
    if (status === 206 && range && Number(range[1]) === offset) {
      const bytes = range[2] === "*" ? null : Number(range[2]);
      return { offset, bytes, validator, chunks: this.#chunksOf(response) };
    }
    const isFinal = status < 500 && status !== 408 && status !== 416 && status !== 429;
    throw new DownloadFailed(`the host answered ${status}`, { isFinal });
  }

  async *#chunksOf(response: IncomingMessage): AsyncIterable<Uint8Array> {
    let bytes = 0;
    let before = 0;
    const watch = this.#clock.every(WINDOW_MS, () => {
      if (bytes - before < MIN_BYTES_PER_WINDOW) response.destroy(new Error("too slow"));
      before = bytes;
    });
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength;
        yield chunk;
      }
    } catch (error) {
      throw new DownloadFailed("the connection was lost, or brought hardly anything", {
        isFinal: false,
        cause: error,
      });
    } finally {
      watch.cancel();
      response.destroy();
    }
    if (!response.complete) throw new DownloadFailed("the connection was lost before the end", { isFinal: false });
  }
}

/** A weak ETag does not guarantee equal bytes. */
const strongTag = (tag: string | undefined): string | null => (tag?.startsWith('"') ? tag : null);
