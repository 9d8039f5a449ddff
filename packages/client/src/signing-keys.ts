import type { CreatedSigningKey, NewSigningKey, SigningKey, SigningKeyPatch } from "@weir/contract";
import { eachOf, fetchPage, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

const PATH = "/api/access-control/signing-key";

/** Keys that sign playback tokens: `/api/access-control/signing-key`. */
export class SigningKeys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The answer is the only one that has the private key. Throws WeirError 403 when the project has too many. */
  create(key: NewSigningKey = {}, call: CallOptions = {}): Promise<CreatedSigningKey> {
    return this.#transport.json("POST", PATH, { ...call, body: key });
  }

  get(id: string, call: CallOptions = {}): Promise<SigningKey> {
    return this.#transport.json("GET", pathOf(id), call);
  }

  /** One page, newest first. */
  list({ limit, cursor, signal }: ListOptions = {}): Promise<Page<SigningKey>> {
    return fetchPage(this.#transport, PATH, { limit, cursor }, { signal });
  }

  /** Every signing key, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<SigningKey, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Renames, disables or enables. What a disabled key signed is refused within 5 seconds. */
  async patch(id: string, changes: SigningKeyPatch, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("PATCH", pathOf(id), { ...call, body: changes });
  }

  /** What it signed is refused within 5 seconds. */
  async delete(id: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("DELETE", pathOf(id), call);
  }
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
