import type { Account } from "@weir/contract";
import { call } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The account of the key or of the sign-in: `/api/user/me`. */
export class Accounts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Get the caller's account. */
  get(options: CallOptions = {}): Promise<Account> {
    return call(this.#transport, "GET /api/user/me", options);
  }
}
