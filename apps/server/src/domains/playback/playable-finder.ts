import { LRUCache } from "lru-cache";
import type { Deps } from "../deps.ts";
import type { Db } from "../schema.ts";
import { findPlayable, findPlayableSession, type PlayableRow } from "./playback-store.ts";

/** Ids are random: one that leads nowhere does not lead somewhere a moment later. */
const UNKNOWN_MS = 10_000;
const MAX_UNKNOWN = 10_000;

export interface PlayableFinderDeps extends Pick<Deps, "db" | "clock"> {
  /** Connections for questions that anybody may ask, so that nothing else waits behind them. */
  readonly viewers: Db;
}

/** Finds what an id plays. Anybody may ask for any id, so unknown ones are remembered for a moment. */
export class PlayableFinder {
  readonly #deps: PlayableFinderDeps;
  /** Until when each is taken for unknown. */
  readonly #unknown = new LRUCache<string, number>({ max: MAX_UNKNOWN });

  constructor(deps: PlayableFinderDeps) {
    this.#deps = deps;
  }

  /** For somebody who may be anybody. */
  async find(playbackId: string): Promise<PlayableRow | undefined> {
    if (this.#isUnknown(playbackId)) return undefined;
    const row = await findPlayable(this.#deps.viewers, playbackId);
    if (!row) this.#unknown.set(playbackId, this.#deps.clock.monotonic() + UNKNOWN_MS);
    return row;
  }

  /** For somebody who was let in to it before. Does not wait behind those who may be anybody. */
  findWatched(playbackId: string): Promise<PlayableRow | undefined> {
    return findPlayable(this.#deps.db, playbackId);
  }

  /** By the session that a recording is of. */
  findSession(sessionId: string): Promise<PlayableRow | undefined> {
    return findPlayableSession(this.#deps.viewers, sessionId);
  }

  #isUnknown(playbackId: string): boolean {
    return (this.#unknown.get(playbackId) ?? 0) > this.#deps.clock.monotonic();
  }
}
