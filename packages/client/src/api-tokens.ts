import type { ApiToken, CreatedApiToken, NewApiToken } from "@weir/contract";
import { fetchPage } from "./list-operation.ts";
import { call } from "./operation.ts";
import { eachOf, type ListOptions, type Page } from "./page.ts";
import { type CallOptions, callOptionsIn, type Transport } from "./transport.ts";

/** API keys of the project: `/api/api-token`. From a signed-in dashboard session only; with an API key every call is WeirError 403. */
export class ApiTokens {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Create an API key. Only this answer shows the key itself. */
  create(token: NewApiToken = {}, options: CallOptions = {}): Promise<CreatedApiToken> {
    return call(this.#transport, "POST /api/api-token", { ...options, body: token });
  }

  /** Get an API key's record. Throws WeirError 404 for an unknown one. */
  get(id: string, options: CallOptions = {}): Promise<ApiToken> {
    return call(this.#transport, "GET /api/api-token/:id", { ...options, params: { id } });
  }

  /** One page, newest first. */
  list(options: ListOptions = {}): Promise<Page<ApiToken>> {
    const [given, query] = callOptionsIn(options);
    return fetchPage(this.#transport, "GET /api/api-token", { ...given, query });
  }

  /** Every API key, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<ApiToken, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Delete an API key: its next request is refused. Throws WeirError 409 for the key that is signed in. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/api-token/:id", { ...options, params: { id } });
  }
}
