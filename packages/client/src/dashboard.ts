import type { ApiBase, DashboardSession, LogIn, Overview, ServerAddress, ServerSettings } from "@weir/contract";
import { call } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { WeirError } from "./weir-error.ts";

/** Calls for the dashboard: sign-in (an API key for a cookie that no script can read) and the server's settings. */
export class Dashboard {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sign in with an API key. Throws WeirError 401 for an unknown key and 403 for a restricted one. */
  signIn(apiKey: string, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "POST /api/dashboard/sign-in", { ...options, body: { apiKey } });
  }

  /** Sign in with a name and a password. Throws WeirError 401 when they are wrong. */
  logIn(who: LogIn, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "POST /api/dashboard/log-in", { ...options, body: who });
  }

  /** End the sign-in. */
  signOut(options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/dashboard/sign-in", options);
  }

  /** The current sign-in; null without one. */
  async session(options: CallOptions = {}): Promise<DashboardSession | null> {
    try {
      return await call(this.#transport, "GET /api/dashboard/session", options);
    } catch (error) {
      if (error instanceof WeirError && error.status === 401) return null;
      throw error;
    }
  }

  /** The name and version of the server. */
  about(options: CallOptions = {}): Promise<ApiBase> {
    return call(this.#transport, "GET /api", options);
  }

  /** Counts of streams and webhooks, and the free capacity of the server. */
  overview(options: CallOptions = {}): Promise<Overview> {
    return call(this.#transport, "GET /api/dashboard/overview", options);
  }

  /** The public address of the server, and how the server knows it. */
  address(options: CallOptions = {}): Promise<ServerAddress> {
    return call(this.#transport, "GET /api/dashboard/address", options);
  }

  /** Pin the address for webhooks and events. Null unpins it: the address last used in a dashboard applies again. */
  pinAddress(address: string | null, options: CallOptions = {}): Promise<ServerAddress> {
    return call(this.#transport, "PUT /api/dashboard/address", { ...options, body: { address } });
  }

  /** The server's version, settings and nodes, without secrets. Throws WeirError 403 for a restricted key. */
  settings(options: CallOptions = {}): Promise<ServerSettings> {
    return call(this.#transport, "GET /api/dashboard/settings", options);
  }
}
