import { hash } from "node:crypto";
import type { ViewerDetails } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import { LastingAnswers } from "../lasting-answers.ts";
import type { DomainConfig } from "../settings.ts";
import { readViewersOfAccounts } from "./view-store.ts";

export interface ViewerLimitDeps extends Deps, Pick<DomainConfig, "viewerLimit" | "viewersPerCredential"> {}

/** Nodes report the counts every 10 s. */
const REFRESH_MS = 2_000;
/** A viewer not seen for this long is gone. */
const GONE_MS = 30_000;
const LOOK_MS = 1_000;
/** Viewers with a credential that are remembered; beyond this limit, the one seen longest ago is evicted. */
const MAX_VIEWERS = 100_000;

interface Seen {
  readonly credential: string;
  readonly at: number;
}

/** Limits concurrent viewers. Without limits it queries nothing and stores nothing. */
export class ViewerLimit {
  readonly #deps: ViewerLimitDeps;
  readonly #viewers: LastingAnswers<ReadonlyMap<string, number>>;
  #last: ReadonlyMap<string, number> = new Map();
  /** By viewer and playback id, in order of the last sighting. */
  readonly #seen = new Map<string, Seen>();
  readonly #perCredential = new Map<string, number>();
  #lookAt = 0;

  constructor(deps: ViewerLimitDeps) {
    this.#deps = deps;
    this.#viewers = new LastingAnswers(deps.clock, { freshMs: REFRESH_MS, capacity: 1 });
  }

  /** Whether the account of this project has reached its limit, so that new viewers are refused. Approximate: counts arrive every 10 s. */
  async isFull(projectId: string): Promise<boolean> {
    const { viewerLimit } = this.#deps;
    if (viewerLimit === 0) return false;
    const viewers = await this.#viewers.get("all", () => this.#read());
    return (viewers?.get(projectId) ?? 0) >= viewerLimit;
  }

  /** Whether one more viewer may watch with this access key or token. A current viewer may; a new one counts from here on. */
  admits(given: string, playbackId: string, viewer: ViewerDetails): boolean {
    const { viewersPerCredential } = this.#deps;
    if (viewersPerCredential === 0) return true;
    // A hash, because the credential may be long and is stored per viewer.
    const credential = hash("sha256", given, "base64url");
    this.#forget();
    const name = nameOf(playbackId, viewer);
    const isNew = this.#seen.get(name)?.credential !== credential;
    if (isNew && (this.#perCredential.get(credential) ?? 0) >= viewersPerCredential) return false;
    this.#remove(name);
    this.#seen.set(name, { credential, at: this.#deps.clock.monotonic() });
    this.#perCredential.set(credential, (this.#perCredential.get(credential) ?? 0) + 1);
    return true;
  }

  /** An admitted viewer continues. */
  goesOn(playbackId: string, viewer: ViewerDetails): void {
    if (this.#deps.viewersPerCredential === 0) return;
    const name = nameOf(playbackId, viewer);
    const seen = this.#seen.get(name);
    if (!seen) return;
    this.#seen.delete(name);
    this.#seen.set(name, { ...seen, at: this.#deps.clock.monotonic() });
  }

  /** If the database does not answer, the last answer remains valid. */
  async #read(): Promise<ReadonlyMap<string, number>> {
    const { db, clock, log } = this.#deps;
    try {
      this.#last = await readViewersOfAccounts(db, clock.now());
    } catch (error) {
      log.warn({ err: error }, "could not count the viewers of accounts; using the last count");
    }
    return this.#last;
  }

  /** Only now and then, because skipping entries deleted at the front of a large map takes long. */
  #forget(): void {
    const now = this.#deps.clock.monotonic();
    if (now < this.#lookAt && this.#seen.size < MAX_VIEWERS) return;
    this.#lookAt = now + LOOK_MS;
    const before = now - GONE_MS;
    for (const [name, { at }] of this.#seen) {
      if (at > before && this.#seen.size < MAX_VIEWERS) return;
      this.#remove(name);
    }
  }

  #remove(name: string): void {
    const seen = this.#seen.get(name);
    if (!seen) return;
    this.#seen.delete(name);
    const left = (this.#perCredential.get(seen.credential) ?? 1) - 1;
    if (left > 0) this.#perCredential.set(seen.credential, left);
    else this.#perCredential.delete(seen.credential);
  }
}

/** A viewer is identified by address and player, as elsewhere. */
const nameOf = (playbackId: string, { address, userAgent }: ViewerDetails) => `${playbackId} ${address} ${userAgent}`;
