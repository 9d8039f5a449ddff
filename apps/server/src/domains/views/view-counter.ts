import { HourlyAudiences } from "../../platform/audience/index.ts";
import type { Timer } from "../../platform/clock.ts";
import type { Audience, EventSink, ViewerCount } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import type { NewViewers } from "../new-viewers.ts";
import type { Trx } from "../schema.ts";
import { noteBatch } from "../written-batches.ts";
import { type CountRow, NOBODY_KNOWN, type PlayerReport, writeCounts } from "./view-store.ts";

export interface ViewCounterDeps extends Deps {
  readonly node: { readonly id: string };
  /** Called in the transaction that counts them. */
  readonly onNewViewers?: (trx: Trx, viewers: readonly NewViewers[]) => Promise<void>;
}

type Pending = { -readonly [Field in keyof CountRow]: CountRow[Field] } & { newViewers: string[] };

/** Counts of this interval form one transaction. */
const GATHER_MS = 1_000;
const RETRY_MS = 5_000;
/** Playback ids and audiences that may wait to be written; beyond this limit, new ones are dropped. */
const MAX_WAITING = 50_000;
const MAX_NEW_VIEWERS = 1_000;

/**
 * Sits between the media floor's counts and the database. Counts of one playback id and audience add up while they wait, so an unavailable
 * database costs memory only per pair. They are written within a second; after a failure, the counter retries every 5 s: first the counts that got no
 * answer, unchanged, as they may have been written.
 */
export class ViewCounter implements Pick<EventSink, "countViewers"> {
  readonly #deps: ViewCounterDeps;
  readonly #reporters: HourlyAudiences;
  #waiting = new Map<string, Pending>();
  readonly #writer = newId();
  #attempt: { readonly number: number; readonly counts: readonly Pending[] } | null = null;
  #attempts = 0;
  #timer: Timer | null = null;
  #writing: Promise<void> | null = null;
  #isClosed = false;

  constructor(deps: ViewCounterDeps) {
    this.#deps = deps;
    this.#reporters = new HourlyAudiences(deps.clock);
  }

  countViewers(counts: readonly ViewerCount[]): void {
    for (const { playbackId, audience, now, begun, watchedMs, newViewers } of counts) {
      const pending = this.#pending(playbackId, audience);
      if (!pending) continue;
      pending.now = now;
      pending.begun += begun;
      pending.watchedMs += watchedMs;
      const room = MAX_NEW_VIEWERS - pending.newViewers.length;
      if (room > 0) pending.newViewers.push(...newViewers.slice(0, room));
    }
    this.#schedule(GATHER_MS);
  }

  /** A player's report of its quality: anybody can send one. */
  countReport(playbackId: string, audience: Audience, report: PlayerReport): void {
    const pending = this.#pending(playbackId, this.#reporters.admit(playbackId, audience));
    if (!pending) return;
    addReport(pending, report);
    this.#schedule(GATHER_MS);
  }

  /** Write the waiting counts. Resolves when they are written, or when that failed. */
  async flush(): Promise<void> {
    await this.#writing;
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#waiting.size === 0 && !this.#attempt) return;
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

  #pending(playbackId: string, audience: Audience = NOBODY_KNOWN): Pending | undefined {
    const key = keyOf(playbackId, audience);
    const known = this.#waiting.get(key);
    if (known || this.#isClosed || this.#waiting.size >= MAX_WAITING) return known;
    const fresh: Pending = { playbackId, ...audience, now: null, begun: 0, watchedMs: 0, ...NO_REPORT, newViewers: [] };
    this.#waiting.set(key, fresh);
    return fresh;
  }

  #schedule(ms: number): void {
    if (this.#isClosed || this.#timer || this.#writing) return;
    this.#timer = this.#deps.clock.after(ms, () => void this.flush());
  }

  async #write(): Promise<void> {
    const { clock } = this.#deps;
    const isAgain = this.#attempt !== null;
    if (!(await this.#tryToWrite()) || (isAgain && !(await this.#tryToWrite()))) {
      this.#timer ??= this.#isClosed ? null : clock.after(RETRY_MS, () => void this.flush());
      return;
    }
    if (this.#waiting.size > 0) this.#timer ??= this.#isClosed ? null : clock.after(GATHER_MS, () => void this.flush());
  }

  /** Write what got no answer, or else what waits. Whether it is written. */
  async #tryToWrite(): Promise<boolean> {
    const { db, clock, log, node, onNewViewers } = this.#deps;
    if (!this.#attempt) {
      if (this.#waiting.size === 0) return true;
      this.#attempt = { number: ++this.#attempts, counts: [...this.#waiting.values()] };
      this.#waiting = new Map();
    }
    const { number, counts } = this.#attempt;
    try {
      await db.transaction().execute(async (trx) => {
        if (!(await noteBatch(trx, { writer: this.#writer, number }, clock.now()))) return;
        const known = await writeCounts(trx, { nodeId: node.id, now: clock.now(), counts });
        const named = Map.groupBy(counts, ({ playbackId }) => playbackId);
        const begun = known.flatMap(({ playbackId, log: subject, owner }) => {
          const viewerIds = (named.get(playbackId) ?? []).flatMap(({ newViewers }) => newViewers);
          return viewerIds.length > 0 ? [{ playbackId, subject, owner, viewerIds }] : [];
        });
        if (begun.length > 0) await onNewViewers?.(trx, begun);
      });
    } catch (error) {
      log.warn({ err: error, counts: counts.length }, "could not write viewer counts; retrying later");
      return false;
    }
    this.#attempt = null;
    return true;
  }
}

const NO_REPORT: PlayerReport = {
  errors: 0,
  heartbeats: 0,
  players: 0,
  starts: 0,
  ttffMs: 0,
  playingMs: 0,
  rebufferingMs: 0,
};

const keyOf = (playbackId: string, { deviceType, os, browser, country }: Audience): string =>
  `${playbackId}|${deviceType}|${os}|${browser}|${country}`;

function addReport(to: Pending, report: PlayerReport): void {
  for (const name of Object.keys(NO_REPORT) as (keyof PlayerReport)[]) to[name] += report[name];
}
