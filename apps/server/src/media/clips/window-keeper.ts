import { buffer } from "node:stream/consumers";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { BackOff, sleep } from "../../platform/retry.ts";
import { isDiskAway } from "../../platform/storage/disk-failed.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";
import { type ClipMoments, type StoreAnswer, type StoredRendition, windowPrefix } from "../../ports/index.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import type { LiveSegment } from "../packaging/live-segment.ts";
import { RenditionWriter } from "../stored/rendition-writer.ts";
import { SessionMedia, type SessionRendition } from "../stored/session-media.ts";
import { StoredFiles } from "../stored/stored-files.ts";
import { type ShownRendition, WindowSource } from "../stored/window-source.ts";
import { hasPart, putWindow } from "./kept-window.ts";

/** Windows of this node that are waiting or being written. Clips of the same session share its segments' memory. */
const MAX_WINDOWS = 16;
/** Whoever asks gets an answer by then, and may ask again: the wait for the end of a clip is 12 s. */
const ANSWER_WITHIN_MS = 25_000;
/** An object store may be away for so long: meanwhile the segments stay in memory. */
const HELD_MS = 600_000;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
const SOURCE = "source";
/** What is held is only what the clip needs. */
const EVERYTHING = { first: 0, last: Number.MAX_SAFE_INTEGER };

/** A session whose live window is kept. */
export interface ShownSession {
  readonly epoch: number;
  readonly outputs: { readonly renditions: readonly LiveRendition[] };
  /** Resolves when everything before a program date-time is complete, or after the longest wait. */
  completeUntil(ms: number): Promise<void>;
}

/**
 * Writes the live window of an unrecorded session to the object store, for a clip. It retains the segments as soon as the clip is requested, because
 * the live window moves on.
 */
export class WindowKeeper {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #store: ObjectStore;
  /** By the asset of the clip. */
  readonly #running = new Map<string, Promise<StoreAnswer>>();

  constructor(clock: Clock, log: Log, store: ObjectStore) {
    this.#clock = clock;
    this.#log = log;
    this.#store = store;
  }

  /** A clip that is asked for again gets the answer to the first request, for as long as that runs: `failed`, where it has none yet. */
  keep(session: ShownSession, moments: ClipMoments): Promise<StoreAnswer> {
    const late = sleep(this.#clock, ANSWER_WITHIN_MS).then(() => "failed" as const);
    return Promise.race([this.#running.get(moments.assetId) ?? this.#begin(session, moments), late]);
  }

  #begin(session: ShownSession, moments: ClipMoments): Promise<StoreAnswer> {
    const { assetId, sessionId } = moments;
    if (this.#running.size >= MAX_WINDOWS) {
      this.#log.warn({ assetId, sessionId }, "refusing a clip of a live window: too many at once");
      return Promise.resolve("too-many");
    }
    const kept = this.#keep(session, moments)
      .catch((error: unknown): StoreAnswer => {
        this.#log.error({ err: error, assetId, sessionId }, "could not store a live window for a clip");
        return "failed";
      })
      .finally(() => this.#running.delete(assetId));
    this.#running.set(assetId, kept);
    return kept;
  }

  async #keep(session: ShownSession, moments: ClipMoments): Promise<StoreAnswer> {
    const held = new Map(session.outputs.renditions.map((each) => [each.name, new HeldSegments(each, moments)]));
    try {
      const complete = session.completeUntil(moments.toMs);
      // What was kept is not kept anew: the window has gone on.
      if (await this.#isKept(session.epoch, moments)) return "stored";
      await complete;
      return await this.#storeHeld(held, session.epoch, moments);
    } finally {
      for (const each of held.values()) each.release();
    }
  }

  /** A store that is away does not say; then it is kept once more. */
  #isKept(epoch: number, moments: ClipMoments): Promise<boolean> {
    return hasPart(this.#store, windowPrefix(moments), epoch).catch(() => false);
  }

  /** Again, while the object store is away: its window will not come back. */
  async #storeHeld(held: ReadonlyMap<string, HeldSegments>, epoch: number, moments: ClipMoments): Promise<StoreAnswer> {
    const until = this.#clock.monotonic() + HELD_MS;
    for (const wait = new BackOff(FIRST_RETRY_MS, MAX_RETRY_MS); ; await sleep(this.#clock, wait.next())) {
      try {
        return await this.#write(held, epoch, moments);
      } catch (error) {
        const isAway = error instanceof StoreFailed || isDiskAway(error);
        if (!isAway || this.#clock.monotonic() > until) throw error;
        const { assetId, sessionId } = moments;
        this.#log.warn({ err: error, assetId, sessionId }, "a live window waits for the object store; retrying");
      }
    }
  }

  async #write(held: ReadonlyMap<string, HeldSegments>, epoch: number, moments: ClipMoments): Promise<StoreAnswer> {
    const media = new SessionMedia([new WindowSource((name) => held.get(name))]);
    const source = await media.segments(SOURCE, EVERYTHING);
    const keyPrefix = windowPrefix(moments);
    const files = new StoredFiles(this.#store, keyPrefix);
    const renditions: StoredRendition[] = [];
    for (const name of held.keys()) {
      const found = await media.segments(name, EVERYTHING);
      if (!found || !isPlayableBeside(source, found)) continue;
      renditions.push(await copy(media, name, found, new RenditionWriter(files, name, epoch)));
    }
    if (renditions.length === 0) return "not-here";
    const { sessionId: id, projectId } = moments;
    await putWindow(this.#store, epoch, { id, projectId, keyPrefix, renditions });
    return "stored";
  }
}

/** False for a rung that lacks one of the source's segments: players select by bitrate alone and would stop there. */
function isPlayableBeside(source: SessionRendition | null, { track, segments }: SessionRendition): boolean {
  const own = new Set(segments.flatMap(({ gap, msn }) => (gap ? [] : [msn])));
  return track.kind === "audio" || (source?.segments ?? []).every(({ gap, msn }) => gap || own.has(msn));
}

async function copy(
  media: SessionMedia,
  rendition: string,
  { track, segments }: SessionRendition,
  writer: RenditionWriter,
): Promise<StoredRendition> {
  for (const segment of segments) {
    if (segment.gap) continue;
    const init = await media.readInit(rendition, segment.init);
    if (init) await writer.putInit(segment.init, init);
    await writer.add(segment, [await buffer(media.read(rendition, segment))]);
  }
  return writer.end(track);
}

/** The segments of one rendition that a clip needs: the complete ones, and those completed until `release`. */
class HeldSegments implements ShownRendition {
  readonly #rendition: LiveRendition;
  readonly #moments: ClipMoments;
  readonly #held: LiveSegment[] = [];
  readonly #stop: () => void;

  constructor(rendition: LiveRendition, moments: ClipMoments) {
    this.#rendition = rendition;
    this.#moments = moments;
    this.#stop = rendition.onChange(() => this.#hold());
    this.#hold();
  }

  get completed(): readonly LiveSegment[] {
    this.#hold();
    return this.#held;
  }

  segment(msn: number): LiveSegment | undefined {
    return this.#held.find((segment) => segment.msn === msn);
  }

  release(): void {
    this.#stop();
    for (const segment of this.#held) segment.release();
  }

  #hold(): void {
    const { fromMs, toMs } = this.#moments;
    for (const segment of this.#rendition.completed) {
      const { msn, programDateTimeMs } = segment;
      const endMs = programDateTimeMs + segment.seconds * 1000;
      if (msn <= (this.#held.at(-1)?.msn ?? -1) || endMs <= fromMs || programDateTimeMs >= toMs) continue;
      segment.retain();
      this.#held.push(segment);
    }
  }
}
