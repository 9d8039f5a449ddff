import { LRUCache } from "lru-cache";
import type { Countries } from "./countries.ts";
import { readUserAgent, type UserAgent } from "./user-agent.ts";

/** A group of viewers: never a person or an address. Empty texts are unknown. */
export interface Audience extends UserAgent {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
}

const MAX_HEADERS = 2_000;
const MAX_AUDIENCES = 5_000;

/** Finds the audience of a request. Two requests of the same audience get the same object. */
export class Audiences {
  readonly #countries: Countries | null;
  readonly #agents = new LRUCache<string, UserAgent>({ max: MAX_HEADERS });
  readonly #audiences = new LRUCache<string, Audience>({ max: MAX_AUDIENCES });

  constructor(countries: Countries | null) {
    this.#countries = countries;
  }

  of(userAgent: string, address: string): Audience {
    const agent = this.#agents.get(userAgent) ?? this.#read(userAgent);
    const country = this.#countries?.of(address) ?? "";
    const key = `${agent.deviceType}|${agent.os}|${agent.browser}|${country}`;
    const known = this.#audiences.get(key);
    if (known) return known;
    const audience = { ...agent, country };
    this.#audiences.set(key, audience);
    return audience;
  }

  #read(userAgent: string): UserAgent {
    const agent = readUserAgent(userAgent);
    this.#agents.set(userAgent, agent);
    return agent;
  }
}
