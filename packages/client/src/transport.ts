import { errorOf, WeirError } from "./weir-error.ts";

/** The server's address, and the caller's credentials. */
export interface ClientOptions {
  /** Origin of the server, such as `http://localhost:8080`. Empty in a page that the server itself delivers. */
  readonly baseUrl: string;
  /** Without a key, calls use the dashboard's sign-in cookie. */
  readonly apiKey?: string;
  /** Milliseconds until an unanswered call fails; default 15,000. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof globalThis.fetch;
}

/** The options of every call. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
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

/** One HTTP exchange with the server: URL, credentials, deadline, errors. The resources above it only name operations. */
export class Transport {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, "") };
  }

  /** Resolves for a 2xx response. Throws WeirError for any other response and for none, and the signal's reason if it was aborted. */
  async send(method: string, path: string, call: Call = {}): Promise<Response> {
    const { query, body, signal, accept = "application/json", isEndless = false } = call;
    const { apiKey, baseUrl, timeoutMs = 15_000, fetch = globalThis.fetch } = this.#options;
    const beginning = new AbortController();
    const deadline = isEndless ? beginning.signal : AbortSignal.timeout(timeoutMs);
    const timer = isEndless ? setTimeout(() => beginning.abort(), timeoutMs) : undefined;
    const headers: Record<string, string> = { accept };
    if (body !== undefined) headers["content-type"] = "application/json";
    // A foreign page cannot set this header without a preflight request, which makes the cookie safe to act on.
    if (apiKey === undefined) headers["x-weir-request"] = "1";
    else headers.authorization = `Bearer ${apiKey}`;

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
      const why = deadline.aborted ? `did not answer within ${timeoutMs / 1000} s` : "could not be reached";
      throw new WeirError(0, [`${baseUrl || "The server"} ${why} (${request})`], { cause });
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
