import type { MultistreamTarget, MultistreamTargetPatch, NewMultistreamTarget } from "@weir/contract";
import { call } from "./operation.ts";
import { eachOf, fetchPage, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Where streams of the key's project are forwarded to: `/api/multistream/target`. No answer has the address. */
export class Targets {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Create a target; streams name it by its id. Throws WeirError 400 for an address that Weir must not send to. */
  create(target: NewMultistreamTarget, options: CallOptions = {}): Promise<MultistreamTarget> {
    return call(this.#transport, "POST /api/multistream/target", { ...options, body: target });
  }

  /** Get a target. Throws WeirError 404 for an unknown one. */
  get(id: string, options: CallOptions = {}): Promise<MultistreamTarget> {
    return call(this.#transport, "GET /api/multistream/target/:id", { ...options, params: { id } });
  }

  /** One page, newest first. */
  list({ signal, ...query }: ListOptions = {}): Promise<Page<MultistreamTarget>> {
    return fetchPage(this.#transport, "GET /api/multistream/target", { query, signal });
  }

  /** Every target, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<MultistreamTarget, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Change what is given; the rest stays. Live streams follow at once. */
  patch(id: string, changes: MultistreamTargetPatch, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "PATCH /api/multistream/target/:id", { ...options, params: { id }, body: changes });
  }

  /** Delete a target. Streams that name it forget it. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/multistream/target/:id", { ...options, params: { id } });
  }
}
