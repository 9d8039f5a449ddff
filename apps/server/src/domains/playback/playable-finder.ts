import { LRUCache } from "lru-cache";
import type { Deps } from "../deps.ts";
import {
  findNewestRecording,
  findRewindable,
  type NewestRecording,
  type RewindableRecording,
} from "../recordings/index.ts";
import type { Db } from "../schema.ts";
import { findPlayable, findPlayableSession, type PlayableRow } from "./playback-store.ts";

/** Ids are random: an unknown id does not become known a moment later. */
const UNKNOWN_MS = 10_000;
const MAX_UNKNOWN = 10_000;

export interface PlayableFinderDeps extends Pick<Deps, "db" | "clock"> {
  /** Database connections for public requests, so that nothing else waits behind them. */
  readonly viewers: Db;
}

/** Finds the content behind an id. Anyone may ask for any id, so unknown ids are cached briefly. */
export class PlayableFinder {
  readonly #deps: PlayableFinderDeps;
  /** When each cached unknown id expires. */
  readonly #unknown = new LRUCache<string, number>({ max: MAX_UNKNOWN });

  constructor(deps: PlayableFinderDeps) {
    this.#deps = deps;
  }

  /** For a public request. */
  async find(playbackId: string): Promise<PlayableRow | undefined> {
    if (this.#isUnknown(playbackId)) return undefined;
    const row = await findPlayable(this.#deps.viewers, playbackId);
    if (!row) this.#unknown.set(playbackId, this.#deps.clock.monotonic() + UNKNOWN_MS);
    return row;
  }

  /** For a viewer admitted earlier. Does not wait behind public requests. */
  findWatched(playbackId: string): Promise<PlayableRow | undefined> {
    return findPlayable(this.#deps.db, playbackId);
  }

  /** By the session of a recording. */
  findSession(sessionId: string): Promise<PlayableRow | undefined> {
    return findPlayableSession(this.#deps.viewers, sessionId);
  }

  /** For a picture of an offline stream. */
  findNewestRecording(streamId: string): Promise<NewestRecording | undefined> {
    return findNewestRecording(this.#deps.viewers, streamId);
  }

  /** For a viewer of a stream who goes back in a session that is over. */
  findRewindable(streamId: string, sessionId: string | null): Promise<RewindableRecording | undefined> {
    return findRewindable(this.#deps.viewers, streamId, sessionId);
  }

  /** It may be known now: a deleted asset was restored. */
  forget(playbackId: string | "all"): void {
    if (playbackId === "all") this.#unknown.clear();
    else this.#unknown.delete(playbackId);
  }

  #isUnknown(playbackId: string): boolean {
    return (this.#unknown.get(playbackId) ?? 0) > this.#deps.clock.monotonic();
  }
}
