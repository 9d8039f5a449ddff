import type { RefusedPublish } from "@weir/contract";
import type { RefusedAttempt } from "../../ports/index.ts";

/** Limit for all streams together. Old attempts are useless, and a flood of them costs no more than this. */
const MAX_KEPT = 100;
const KEPT_MS = 15 * 60_000;

interface Kept extends RefusedAttempt {
  readonly at: number;
}

/**
 * The latest publish attempts that this process refused, to help the person at the encoder. In memory, because anyone can cause any number of
 * them.
 */
export class RefusedPublishes {
  readonly #now: () => number;
  readonly #kept: Kept[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  note(attempt: RefusedAttempt): void {
    this.#kept.push({ ...attempt, at: this.#now() });
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
  }

  /** Newest first: the stream's own attempts and, only if the caller sees the whole account, attempts with an unknown key. */
  of(streamId: string, seesAll: boolean): RefusedPublish[] {
    const since = this.#now() - KEPT_MS;
    return this.#kept
      .filter((attempt) => attempt.at >= since && (attempt.streamId ?? (seesAll ? streamId : null)) === streamId)
      .map(({ at, protocol, remoteAddress, sentence, streamId: known }) => ({
        timestamp: at,
        protocol,
        address: remoteAddress,
        message: sentence,
        isKnownKey: known !== null,
      }))
      .reverse();
  }
}
