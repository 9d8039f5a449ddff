import type { MultistreamTarget, MultistreamTargetPatch, NewMultistreamTarget } from "@weir/contract";
import { fetchPage } from "./list-operation.ts";
import { call } from "./operation.ts";
import { eachOf, type ListOptions, type Page } from "./page.ts";
import { type CallOptions, callOptionsIn, type Transport } from "./transport.ts";

/** Multistream targets of the key's project: `/api/multistream/target`. No response contains their URLs. */
export class Targets {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Create a target; streams refer to it by id. Throws WeirError 400 for a URL that Weir must not send to. */
  create(target: NewMultistreamTarget, options: CallOptions = {}): Promise<MultistreamTarget> {
    return call(this.#transport, "POST /api/multistream/target", { ...options, body: target });
  }

  /** Get a target. Throws WeirError 404 for an unknown one. */
  get(id: string, options: CallOptions = {}): Promise<MultistreamTarget> {
    return call(this.#transport, "GET /api/multistream/target/:id", { ...options, params: { id } });
  }

  /** One page, newest first. */
  list(options: ListOptions = {}): Promise<Page<MultistreamTarget>> {
    const [given, query] = callOptionsIn(options);
    return fetchPage(this.#transport, "GET /api/multistream/target", { ...given, query });
  }

  /** Every target, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<MultistreamTarget, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Change the given fields; the rest stays. Live streams follow at once. */
  patch(id: string, changes: MultistreamTargetPatch, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "PATCH /api/multistream/target/:id", { ...options, params: { id }, body: changes });
  }

  /** Delete a target. It is removed from all streams. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/multistream/target/:id", { ...options, params: { id } });
  }
}
