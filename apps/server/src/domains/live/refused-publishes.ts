import type { RefusedPublish } from "@weir/contract";
import type { RefusedAttempt } from "../../ports/index.ts";

/** Of all streams together. Old ones are of no use, and a flood of attempts costs no more than this. */
const MAX_KEPT = 100;
const KEPT_MS = 15 * 60_000;

interface Kept extends RefusedAttempt {
  readonly at: number;
}

/** The latest attempts to publish that this process refused, for the person at the encoder. In memory, as anybody can make any number of them. */
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

  /** Newest first: those of the stream, and, only where all of the account is visible, those with a key that is no stream's. */
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
