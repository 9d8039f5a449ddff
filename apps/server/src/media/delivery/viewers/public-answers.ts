import { LRUCache } from "lru-cache";
import type { Clock } from "../../../platform/clock.ts";
import type { PlaybackContent } from "../../../ports/index.ts";
import type { Grant } from "./viewer-sessions.ts";

const MAX_KEPT = 20_000;

/** A decision about public content. */
export interface PublicAnswer {
  readonly content: PlaybackContent;
  readonly isFull: boolean;
}

/** Caches the gate's decisions about public content while they are valid, so that a segment costs only a look-up. */
export class PublicAnswers {
  readonly #clock: Clock;
  readonly #kept = new LRUCache<string, PublicAnswer & { readonly until: number }>({ max: MAX_KEPT });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(key: string): PublicAnswer | null {
    // `peek` does not update the LRU order: a used entry is renewed every second anyway, and this runs for every segment.
    const kept = this.#kept.peek(key);
    return kept && this.#clock.monotonic() < kept.until ? kept : null;
  }

  /** Whether there is a decision, valid or expired. */
  isKept(key: string): boolean {
    return this.#kept.has(key);
  }

  keep(key: string, { content, isFull, expiresInMs }: Grant): PublicAnswer {
    const answer = { content, isFull, until: this.#clock.monotonic() + expiresInMs };
    this.#kept.set(key, answer);
    return answer;
  }

  clear(): void {
    this.#kept.clear();
  }
}
