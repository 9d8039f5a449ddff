import type { Clock } from "../clock.ts";

export interface RateLimitSettings {
  readonly clock: Clock;
  /** Limit per window; 0 means no limit. */
  readonly quota: number;
  readonly windowMs: number;
}

export interface Allowance {
  readonly isAllowed: boolean;
  readonly remaining: number;
  /** Whole seconds until the quota is full again, at least 1. */
  readonly resetSeconds: number;
}

interface Window {
  used: number;
  readonly endsAt: number;
}

/** Beyond this number of clients, the one with the oldest window is evicted. */
const MAX_WINDOWS = 10_000;

/** A fixed-window limit per name. Counts in this process only; its memory is bounded. */
export class RateLimit {
  readonly #settings: RateLimitSettings;
  /** In the order of their ends, because all are equally long. */
  readonly #windows = new Map<string, Window>();

  constructor(settings: RateLimitSettings) {
    this.#settings = settings;
  }

  get quota(): number {
    return this.#settings.quota;
  }

  /** Count one. A refused request is not counted. */
  take(name: string): Allowance {
    const now = this.#settings.clock.monotonic();
    this.#forget(now);
    const window = this.#windows.get(name) ?? { used: 0, endsAt: now + this.#settings.windowMs };
    const allowance = this.#allowance(window, now);
    if (!allowance.isAllowed) return allowance;
    window.used += 1;
    this.#windows.set(name, window);
    return { ...allowance, remaining: allowance.remaining - 1 };
  }

  /** Whether the next one would be refused; counts nothing. */
  isUsedUp(name: string): boolean {
    const window = this.#windows.get(name);
    const { clock, quota } = this.#settings;
    return window !== undefined && window.used >= quota && window.endsAt > clock.monotonic();
  }

  /** Return the last one, which turned out not to count. */
  giveBack(name: string): void {
    const window = this.#windows.get(name);
    if (window && window.used > 0) window.used -= 1;
  }

  /** RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-10, and Retry-After once the quota is used up. */
  headers({ isAllowed, remaining, resetSeconds }: Allowance): Record<string, string> {
    const { quota, windowMs } = this.#settings;
    return {
      "ratelimit-policy": `"default";q=${quota};w=${Math.ceil(windowMs / 1000)}`,
      ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
      ...(isAllowed ? {} : { "retry-after": String(resetSeconds) }),
    };
  }

  #allowance({ used, endsAt }: Window, now: number): Allowance {
    const remaining = Math.max(0, this.#settings.quota - used);
    return { isAllowed: remaining > 0, remaining, resetSeconds: Math.max(1, Math.ceil((endsAt - now) / 1000)) };
  }

  #forget(now: number): void {
    for (const [name, { endsAt }] of this.#windows) {
      if (endsAt > now && this.#windows.size < MAX_WINDOWS) return;
      this.#windows.delete(name);
    }
  }
}
