import { EXAMPLE_ORIGIN } from "@weir/contract/descriptions";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";
import { SharedText } from "../../platform/http/shared-text.ts";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import { TooManyRequests } from "../api/index.ts";

/** A few megabytes each, if every page was asked for in every coding. */
const MAX_ORIGINS = 4;
/** New ones, of one client: without a set public URL the origin is what a request calls this server, and every text of a new one is written and compressed anew. */
const NEW_ORIGINS_A_MINUTE = 20;

/** Texts with the address of this server in place of the example's, kept for the origins that were last asked for; most servers have one. */
export class TextsOfOrigin {
  readonly #origins = new LRUCache<string, Map<string, SharedText>>({ max: MAX_ORIGINS });
  readonly #limit: RateLimit;

  constructor(clock: Clock) {
    this.#limit = new RateLimit({ clock, quota: NEW_ORIGINS_A_MINUTE, windowMs: 60_000 });
  }

  /** `write` makes the text with the example's origin. Throws `TooManyRequests` to a client that calls this server by ever new names. */
  get(
    { origin, client }: { readonly origin: string; readonly client: string },
    name: string,
    write: () => string,
  ): SharedText {
    const texts = this.#origins.get(origin) ?? this.#begin(origin, client);
    const text = texts.get(name) ?? SharedText.of(write().replaceAll(EXAMPLE_ORIGIN, origin));
    texts.set(name, text);
    return text;
  }

  #begin(origin: string, client: string): Map<string, SharedText> {
    if (!this.#limit.take(client).isAllowed)
      throw new TooManyRequests("this client calls the server by too many names: use one, or wait a minute");
    const texts = new Map<string, SharedText>();
    this.#origins.set(origin, texts);
    return texts;
  }
}
