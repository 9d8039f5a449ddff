import type { Deps } from "../deps.ts";
import { markSigningKeySeen } from "./signing-key-store.ts";

const EXACT_TO_MS = 60_000;
const KEYS = 10_000;

/** Notes when a signing key was last of use, at most once a minute for each. Nobody waits for it. */
export class SigningKeyUse {
  readonly #deps: Deps;
  /** When each was noted last, by the monotonic clock. */
  readonly #notedAt = new Map<string, number>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  note(id: string): void {
    const { db, clock, log } = this.#deps;
    const at = clock.monotonic();
    const notedAt = this.#notedAt.get(id);
    if (notedAt !== undefined && at - notedAt < EXACT_TO_MS) return;
    if (this.#notedAt.size >= KEYS) this.#notedAt.clear();
    this.#notedAt.set(id, at);
    const now = clock.now();
    markSigningKeySeen(db, id, now, now - EXACT_TO_MS).catch((error: unknown) => {
      log.warn({ err: error }, "the last use of a signing key could not be noted");
    });
  }
}
