import type { Credential } from "./addresses.ts";

/** Returns a token that is valid now: the page's own, or one that it asks its server for. */
export type GetToken = () => string | Promise<string>;

/** A token is renewed this long before it expires; one for a shorter time in the middle of it. */
const RENEW_BEFORE_MS = 30_000;
/** A refused token is renewed at most once in this time: a server that goes on to refuse is not asked in a loop. */
const RENEW_AGAIN_MS = 10_000;
/** The longest time that browsers keep a timer for. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What a viewer is admitted with: a token or an access key that the page gives, or a function that gives tokens. */
export class Credentials {
  #given: Credential | null = null;
  #getToken: GetToken | null = null;
  #held: Credential | null = null;
  #renewedAt = Number.NEGATIVE_INFINITY;

  give(credential: Credential | null): void {
    this.#given = credential;
    this.#held = null;
  }

  renewBy(getToken: GetToken | null): void {
    this.#getToken = getToken;
    this.#held = null;
    this.#renewedAt = Number.NEGATIVE_INFINITY;
  }

  /** Null where the page gives none. Rejects when its function does. */
  async current(): Promise<Credential | null> {
    if (this.#given !== null || this.#getToken === null) return this.#given;
    this.#held ??= { name: "jwt", value: await this.#getToken() };
    return this.#held;
  }

  /** Forgets a token that was refused or expires. False where there is no other to be had now. */
  renew(): boolean {
    if (this.#given !== null || this.#getToken === null) return false;
    if (performance.now() - this.#renewedAt < RENEW_AGAIN_MS) return false;
    this.#renewedAt = performance.now();
    this.#held = null;
    return true;
  }

  /** In how many milliseconds there should be another token, at once where the page's function gave none; null where that is not known, or there is none. */
  renewalMs(now: number): number | null {
    if (this.#given !== null || this.#getToken === null) return null;
    const expiresAt = this.#held === null ? now : expiryOf(this.#held.value);
    if (expiresAt === null) return null;
    const leftMs = expiresAt - now;
    const mayRenewInMs = this.#renewedAt + RENEW_AGAIN_MS - performance.now();
    return Math.min(MAX_TIMER_MS, Math.max(0, mayRenewInMs, leftMs / 2, leftMs - RENEW_BEFORE_MS));
  }
}

/** When a JWT expires, in ms since the epoch; null for any other text. Nothing is verified: that is the server's part. */
export function expiryOf(token: string): number | null {
  try {
    const payload = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(payload)) as { exp?: unknown };
    return typeof exp === "number" ? exp * 1000 : null;
  } catch {
    return null;
  }
}
