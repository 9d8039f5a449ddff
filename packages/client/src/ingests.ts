import type { Ingest } from "@weir/contract";
import { call } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Addresses to publish to: `/api/ingest`. */
export class Ingests {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Ingest and playback base URLs: one entry per region. */
  list(options: CallOptions = {}): Promise<Ingest[]> {
    return call(this.#transport, "GET /api/ingest", options);
  }
}
