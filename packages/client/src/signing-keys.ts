import type { CreatedSigningKey, NewSigningKey, SigningKey, SigningKeyPatch } from "@weir/contract";
import { fetchPage } from "./list-operation.ts";
import { call } from "./operation.ts";
import { eachOf, type ListOptions, type Page } from "./page.ts";
import { type CallOptions, callOptionsIn, type Transport } from "./transport.ts";

/** Keys that sign playback tokens: `/api/access-control/signing-key`. */
export class SigningKeys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Create a signing key. Only this response contains the private key. Throws WeirError 403 if the project has too many. */
  create(key: NewSigningKey = {}, options: CallOptions = {}): Promise<CreatedSigningKey> {
    return call(this.#transport, "POST /api/access-control/signing-key", { ...options, body: key });
  }

  /** Get a signing key's record. Throws WeirError 404 for an unknown one. */
  get(id: string, options: CallOptions = {}): Promise<SigningKey> {
    return call(this.#transport, "GET /api/access-control/signing-key/:id", { ...options, params: { id } });
  }

  /** One page, newest first. */
  list(options: ListOptions = {}): Promise<Page<SigningKey>> {
    const [given, query] = callOptionsIn(options);
    return fetchPage(this.#transport, "GET /api/access-control/signing-key", { ...given, query });
  }

  /** Every signing key, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<SigningKey, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Rename, disable or enable a key. Tokens of a disabled key are refused within 5 seconds. */
  patch(id: string, changes: SigningKeyPatch, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "PATCH /api/access-control/signing-key/:id", {
      ...options,
      params: { id },
      body: changes,
    });
  }

  /** Delete a key. Its tokens are refused within 5 seconds. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/access-control/signing-key/:id", { ...options, params: { id } });
  }
}
