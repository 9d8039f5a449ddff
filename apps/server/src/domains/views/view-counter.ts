import type { Timer } from "../../platform/clock.ts";
import type { EventSink, ViewerCount } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import type { Owner, Trx } from "../schema.ts";
import type { Subject } from "../subject.ts";
import { type CountRow, writeCounts } from "./view-store.ts";

/** Viewers that began to watch one playback id. */
export interface NewViewers {
  readonly playbackId: string;
  /** The subject whose log tells of them. */
  readonly subject: Subject;
  readonly owner: Owner;
  readonly viewerIds: readonly string[];
}

export interface ViewCounterDeps extends Deps {
  readonly node: { readonly id: string };
  /** Called in the transaction that counts them. */
  readonly onNewViewers?: (trx: Trx, viewers: readonly NewViewers[]) => Promise<void>;
}

type Pending = { -readonly [Field in keyof CountRow]: CountRow[Field] } & { newViewers: string[] };

/** Counts of this span are one transaction. */
const GATHER_MS = 1_000;
const RETRY_MS = 5_000;
/** Playback ids that wait to be written; beyond them, counts of others are lost. */
const MAX_WAITING = 50_000;
const MAX_NEW_VIEWERS = 1_000;

/**
 * Between the media floor's counts and the rows. Counts of one playback id add up while they wait, so a database that is away costs no
 * more memory than there are playback ids; they are written within a second or, after a failure, tried again every 5 s.
 */
export class ViewCounter implements Pick<EventSink, "countViewers"> {
  readonly #deps: ViewCounterDeps;
  #waiting = new Map<string, Pending>();
  #timer: Timer | null = null;
  #writing: Promise<void> | null = null;
  #isClosed = false;

  constructor(deps: ViewCounterDeps) {
    this.#deps = deps;
  }

  countViewers(counts: readonly ViewerCount[]): void {
    for (const { playbackId, now, begun, watchedMs, newViewers } of counts) {
      const pending = this.#pending(playbackId);
      if (!pending) continue;
      pending.now = now;
      pending.begun += begun;
      pending.watchedMs += watchedMs;
      const room = MAX_NEW_VIEWERS - pending.newViewers.length;
      if (room > 0) pending.newViewers.push(...newViewers.slice(0, room));
    }
    this.#schedule(GATHER_MS);
  }

  /** A player told how it is doing. */
  countBeacon(playbackId: string, { errors, heartbeats }: { errors: number; heartbeats: number }): void {
    const pending = this.#pending(playbackId);
    if (!pending) return;
    pending.errors += errors;
    pending.heartbeats += heartbeats;
    this.#schedule(GATHER_MS);
  }

  /** Write what is waiting. Resolves when it is written, or when that has failed. */
  async flush(): Promise<void> {
    await this.#writing;
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#waiting.size === 0) return;
    this.#writing = this.#write().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /** Write for the last time. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    this.#timer?.cancel();
  }

  #pending(playbackId: string): Pending | undefined {
    const known = this.#waiting.get(playbackId);
    if (known || this.#isClosed || this.#waiting.size >= MAX_WAITING) return known;
    const fresh: Pending = { playbackId, now: null, begun: 0, watchedMs: 0, errors: 0, heartbeats: 0, newViewers: [] };
    this.#waiting.set(playbackId, fresh);
    return fresh;
  }

  #schedule(ms: number): void {
    if (this.#isClosed || this.#timer || this.#writing) return;
    this.#timer = this.#deps.clock.after(ms, () => void this.flush());
  }

  async #write(): Promise<void> {
    const { db, clock, log, node, onNewViewers } = this.#deps;
    const batch = this.#waiting;
    this.#waiting = new Map();
    try {
      await db.transaction().execute(async (trx) => {
        const known = await writeCounts(trx, { nodeId: node.id, now: clock.now(), counts: [...batch.values()] });
        const begun = known.flatMap(({ playbackId, log: subject, owner }) => {
          const viewerIds = batch.get(playbackId)?.newViewers ?? [];
          return viewerIds.length > 0 ? [{ playbackId, subject, owner, viewerIds }] : [];
        });
        if (begun.length > 0) await onNewViewers?.(trx, begun);
      });
    } catch (error) {
      log.warn({ err: error, playbackIds: batch.size }, "could not write viewer counts; retrying later");
      this.#putBack(batch);
      this.#timer ??= this.#isClosed ? null : clock.after(RETRY_MS, () => void this.flush());
      return;
    }
    if (this.#waiting.size > 0) this.#timer ??= this.#isClosed ? null : clock.after(GATHER_MS, () => void this.flush());
  }

  /** A count that came meanwhile is newer. */
  #putBack(batch: ReadonlyMap<string, Pending>): void {
    for (const [playbackId, failed] of batch) {
      const newer = this.#waiting.get(playbackId);
      if (newer) {
        newer.now ??= failed.now;
        newer.begun += failed.begun;
        newer.watchedMs += failed.watchedMs;
        newer.errors += failed.errors;
        newer.heartbeats += failed.heartbeats;
        newer.newViewers = [...failed.newViewers, ...newer.newViewers].slice(0, MAX_NEW_VIEWERS);
      } else if (this.#waiting.size < MAX_WAITING) this.#waiting.set(playbackId, failed);
    }
  }
}
