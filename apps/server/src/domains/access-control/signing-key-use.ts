import { RateLimit } from "../../platform/limits/rate-limit.ts";
import type { Deps } from "../deps.ts";
import { markSigningKeySeen } from "./signing-key-store.ts";

const EXACT_TO_MS = 60_000;

/** Records when a signing key was last used, at most once a minute per key. Nobody waits for it. */
export class SigningKeyUse {
  readonly #deps: Deps;
  readonly #notes: RateLimit;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#notes = new RateLimit({ clock: deps.clock, quota: 1, windowMs: EXACT_TO_MS });
  }

  note(id: string): void {
    if (!this.#notes.take(id).isAllowed) return;
    const { db, clock, log } = this.#deps;
    const now = clock.now();
    markSigningKeySeen(db, id, now, now - EXACT_TO_MS).catch((error: unknown) => {
      log.warn({ err: error }, "could not record the last use of a signing key");
    });
  }
}
