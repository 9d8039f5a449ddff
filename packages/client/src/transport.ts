import { backOffMs, isWorthRetry } from "./retry.ts";
import { wait } from "./wait.ts";
import { errorOf, WeirError } from "./weir-error.ts";

/** The server's address, the caller's credentials, and how patient the client is. */
export interface ClientOptions {
  /** Origin of the server, such as `http://localhost:8080`. Empty in a page that the server itself delivers. */
  readonly baseUrl: string;
  /** Without a key, calls use the dashboard's sign-in cookie. */
  readonly apiKey?: string | undefined;
  /** Milliseconds until an unanswered call fails, or is retried; default 15,000. */
  readonly timeoutMs?: number;
  /** Retries of a call that met 429, 503 or a broken connection, with growing waits; default 2. */
  readonly maxRetries?: number;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof globalThis.fetch;
}

/** The options of every call. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
  /** For calls that create something: two calls with the same key have one effect and the same answer. By default, each call has a key of its own. */
  readonly idempotencyKey?: string | undefined;
  /** Replaces `maxRetries` of the client. */
  readonly maxRetries?: number | undefined;
  /** Sent with this call, besides those of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One request, besides its method and path. */
export interface Call extends CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: unknown;
  /** Media type of the response; JSON by default. */
  readonly accept?: string;
  /** The response may last forever: the deadline applies only to its start. */
  readonly isEndless?: boolean;
}

/** Separates the options of a call from what it asks for. */
export function callOptionsIn<Given extends CallOptions>(
  given: Given,
): [options: CallOptions, asked: Omit<Given, keyof CallOptions>] {
  const { signal, idempotencyKey, maxRetries, headers, ...asked } = given;
  return [{ signal, idempotencyKey, maxRetries, headers }, asked];
}

const TIMEOUT_MS = 15_000;
const MAX_RETRIES = 2;

/** HTTP exchanges with the server: URL, credentials, deadlines, retries, errors. The resources above it only name operations. */
export class Transport {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, "") };
  }

  /**
   * Resolves for a 2xx response. Throws WeirError for any other response and for none, and the signal's reason if it was aborted. What a retry
   * may cure is retried; the server knows a repeated POST by its key.
   */
  async send(method: string, path: string, call: Call = {}): Promise<Response> {
    const { signal, maxRetries = this.#options.maxRetries ?? MAX_RETRIES } = call;
    const headers = this.#headersOf(method, call, maxRetries);
    for (let retries = 0; ; retries++) {
      try {
        return await this.#sendOnce(method, path, headers, call);
      } catch (error) {
        if (
          retries >= maxRetries ||
          !(error instanceof WeirError) ||
          !isWorthRetry(error, method, "idempotency-key" in headers)
        )
          throw error;
        await wait(backOffMs(retries, error.retryAfterMs), signal);
      }
    }
  }

  #headersOf(method: string, call: Call, maxRetries: number): Record<string, string> {
    const { body, accept = "application/json", headers, idempotencyKey } = call;
    const { apiKey, headers: ofClient } = this.#options;
    const key = idempotencyKey ?? (method === "POST" && apiKey !== undefined && maxRetries > 0 ? newKey() : undefined);
    return {
      accept,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
      ...ofClient,
      ...headers,
      // A foreign page cannot set this header without a preflight request, which makes the cookie safe to act on.
      ...(apiKey === undefined ? { "x-weir-request": "1" } : { authorization: `Bearer ${apiKey}` }),
    };
  }

  async #sendOnce(method: string, path: string, headers: Record<string, string>, call: Call): Promise<Response> {
    const { query, body, signal, isEndless = false } = call;
    const { apiKey, baseUrl, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = this.#options;
    const beginning = new AbortController();
    const deadline = isEndless ? beginning.signal : AbortSignal.timeout(timeoutMs);
    const timer = isEndless ? setTimeout(() => beginning.abort(), timeoutMs) : undefined;
    const request = `${method} ${path}`;
    let response: Response;
    try {
      response = await fetch(baseUrl + path + searchOf(query), {
        method,
        headers,
        credentials: apiKey === undefined ? "same-origin" : "omit",
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      signal?.throwIfAborted();
      const isLate = deadline.aborted;
      const why = isLate ? `did not answer within ${timeoutMs / 1000} s` : "could not be reached";
      const code = isLate ? "timeout" : "unreachable";
      throw new WeirError(0, [`${baseUrl || "The server"} ${why} (${request})`], { cause, code });
    } finally {
      clearTimeout(timer);
    }
    if (!response.ok) throw await errorOf(request, response);
    return response;
  }
}

function searchOf(query: Call["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size > 0 ? `?${search}` : "";
}

/** Pages without TLS have no `randomUUID`. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
