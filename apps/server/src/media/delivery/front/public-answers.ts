import { LRUCache } from "lru-cache";
import type { Clock } from "../../../platform/clock.ts";
import { type AccessRequest, isByOwner, originKey } from "./access-request.ts";
import type { Admitted, Grant } from "./viewer-sessions.ts";

const MAX_KEPT = 20_000;

/** Caches the gate's decisions about public content while they are valid, so that a segment costs only a look-up. */
export class PublicAnswers {
  readonly #clock: Clock;
  /** By playback id, or by origin where the policy lists origins. */
  readonly #kept = new LRUCache<string, Admitted & { readonly until: number }>({ max: MAX_KEPT });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The valid decision; null if there is none, or if the answer would not be for everyone. */
  find(request: AccessRequest): Admitted | null {
    if (isByOwner(request)) return null;
    return this.#valid(request.address.playbackId) ?? this.#valid(originKey(request));
  }

  /** Whether there is a decision for the request, valid or expired. */
  isKept(request: AccessRequest): boolean {
    return this.#kept.has(request.address.playbackId) || this.#kept.has(originKey(request));
  }

  keep(request: AccessRequest, { content, isFull, expiresInMs, perOrigin }: Grant): void {
    const until = this.#clock.monotonic() + expiresInMs;
    const key = perOrigin ? originKey(request) : request.address.playbackId;
    this.#kept.set(key, { content, session: null, isFull, isShared: !perOrigin, until });
  }

  clear(): void {
    this.#kept.clear();
  }

  #valid(key: string): Admitted | null {
    // `peek` does not update the LRU order: a used entry is renewed every second anyway, and this runs for every segment.
    const kept = this.#kept.peek(key);
    return kept && this.#clock.monotonic() < kept.until ? kept : null;
  }
}
