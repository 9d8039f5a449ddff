import type { DashboardSession } from "@weir/contract";
import type { CallOptions, Transport } from "./transport.ts";
import { WeirError } from "./weir-error.ts";

/** The dashboard's sign-in: an API key, exchanged for a cookie that no script can read. */
export class Dashboard {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Throws WeirError 401 when the key is unknown. */
  async signIn(apiKey: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("POST", "/api/dashboard/sign-in", { ...call, body: { apiKey } });
  }

  async signOut(call: CallOptions = {}): Promise<void> {
    await this.#transport.send("DELETE", "/api/dashboard/sign-in", call);
  }

  /** Who is signed in; null when nobody is. */
  async session(call: CallOptions = {}): Promise<DashboardSession | null> {
    try {
      return await this.#transport.json<DashboardSession>("GET", "/api/dashboard/session", call);
    } catch (error) {
      if (error instanceof WeirError && error.status === 401) return null;
      throw error;
    }
  }
}
