import type { DashboardSession, LogIn, ServerSettings } from "@weir/contract";
import type { CallOptions, Transport } from "./transport.ts";
import { WeirError } from "./weir-error.ts";

/** What only the dashboard asks: the sign-in, an API key exchanged for a cookie that no script can read, and the server's settings. */
export class Dashboard {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Throws WeirError 401 when the key is unknown. */
  async signIn(apiKey: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("POST", "/api/dashboard/sign-in", { ...call, body: { apiKey } });
  }

  /** The same for a person. Throws WeirError 401 when name and password do not belong together. */
  async logIn(who: LogIn, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("POST", "/api/dashboard/log-in", { ...call, body: who });
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

  /** How the server is set up, without secrets: version, settings, nodes. Throws WeirError 403 for a restricted key. */
  settings(call: CallOptions = {}): Promise<ServerSettings> {
    return this.#transport.json("GET", "/api/dashboard/settings", call);
  }
}
