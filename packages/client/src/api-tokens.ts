import type { ApiToken, CreatedApiToken, NewApiToken } from "@weir/contract";
import { eachOf, fetchPage, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** API keys of the project: `/api/api-token`. By the dashboard's sign-in only; with an API key every call is WeirError 403. */
export class ApiTokens {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The answer is the only one that has the key itself. */
  create(token: NewApiToken = {}, call: CallOptions = {}): Promise<CreatedApiToken> {
    return this.#transport.json("POST", "/api/api-token", { ...call, body: token });
  }

  get(id: string, call: CallOptions = {}): Promise<ApiToken> {
    return this.#transport.json("GET", pathOf(id), call);
  }

  /** One page, newest first. */
  list({ limit, cursor, signal }: ListOptions = {}): Promise<Page<ApiToken>> {
    return fetchPage(this.#transport, "/api/api-token", { limit, cursor }, { signal });
  }

  /** Every API key, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<ApiToken, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** The key is refused from the next request on. Throws WeirError 409 for the one that is signed in. */
  async delete(id: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("DELETE", pathOf(id), call);
  }
}

function pathOf(id: string): string {
  return `/api/api-token/${encodeURIComponent(id)}`;
}
