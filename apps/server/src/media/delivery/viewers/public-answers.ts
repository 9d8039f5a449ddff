import { LRUCache } from "lru-cache";
import type { Clock } from "../../../platform/clock.ts";
import type { PlaybackContent } from "../../../ports/index.ts";
import type { Grant } from "./viewer-sessions.ts";

const MAX_KEPT = 20_000;

/** An answer about content that anybody may watch. */
export interface PublicAnswer {
  readonly content: PlaybackContent;
  readonly isFull: boolean;
}

/** The gate's answers about public content, kept for as long as they stand, so that a segment costs a look-up. */
export class PublicAnswers {
  readonly #clock: Clock;
  readonly #kept = new LRUCache<string, PublicAnswer & { readonly until: number }>({ max: MAX_KEPT });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(key: string): PublicAnswer | null {
    // Without a move in the order of use: an answer in use is renewed every second, and this is asked for every segment.
    const kept = this.#kept.peek(key);
    return kept && this.#clock.monotonic() < kept.until ? kept : null;
  }

  /** Whether there was an answer, though it may stand no longer. */
  isKept(key: string): boolean {
    return this.#kept.has(key);
  }

  keep(key: string, { content, isFull, standsMs }: Grant): PublicAnswer {
    const answer = { content, isFull, until: this.#clock.monotonic() + standsMs };
    this.#kept.set(key, answer);
    return answer;
  }

  clear(): void {
    this.#kept.clear();
  }
}
