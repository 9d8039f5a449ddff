import { joinFragments } from "@weir/formats/mp4";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { type ClipWindow, type StoredRendition, type StoredSegment, windowPrefix } from "../../ports/index.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import type { LiveSegment } from "../packaging/live-segment.ts";
import { storedTrackOf } from "../packaging/stored-track.ts";
import { whenRendition } from "../packaging/when-rendition.ts";
import { spanName } from "../stored/recording-keys.ts";
import { rescale } from "../timeline/ticks.ts";
import { putWindow } from "./kept-window.ts";

/** After this, the segment with the clip's end is complete in every rendition, or never will be. */
const MAX_WAIT_MS = 12_000;
/** Windows of this node that are waiting or being written. Clips of the same session share its segments' memory. */
const MAX_WINDOWS = 16;
const EPOCH = 1;
const SOURCE = "source";

export interface WindowKeeperSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: ObjectStore;
}

/**
 * Writes the live window of an unrecorded session to the object store, for a clip. It retains the segments as soon as the clip is requested, because
 * the live window moves on.
 */
export class WindowKeeper {
  readonly #settings: WindowKeeperSettings;
  #windows = 0;

  constructor(settings: WindowKeeperSettings) {
    this.#settings = settings;
  }

  /** Runs in the background. */
  keep(renditions: readonly LiveRendition[], window: ClipWindow): void {
    const { log } = this.#settings;
    const { assetId, sessionId } = window;
    if (this.#windows >= MAX_WINDOWS)
      return log.warn({ assetId, sessionId }, "refusing a clip of a live window: too many at once");
    this.#windows++;
    this.#keep(renditions, window)
      .catch((error: unknown) =>
        log.error({ err: error, assetId, sessionId }, "could not store a live window for a clip"),
      )
      .finally(() => this.#windows--);
  }

  async #keep(renditions: readonly LiveRendition[], window: ClipWindow): Promise<void> {
    const held = renditions.map((rendition) => new HeldSegments(rendition, window));
    try {
      await Promise.all(held.map((each) => each.whole(this.#settings.clock)));
      const keyPrefix = windowPrefix(window);
      const stored: StoredRendition[] = [];
      const source = held.find(({ name }) => name === SOURCE);
      for (const { name, segments } of held.filter((each) => each.isPlayableBeside(source))) {
        const rendition = await this.#put(keyPrefix, name, segments);
        if (rendition) stored.push(rendition);
      }
      const { sessionId: id, projectId } = window;
      await putWindow(this.#settings.store, { id, projectId, keyPrefix, renditions: stored });
    } finally {
      for (const each of held) each.release();
    }
  }

  /** Null if the rendition has no segments of that time. */
  async #put(keyPrefix: string, rendition: string, segments: readonly LiveSegment[]): Promise<StoredRendition | null> {
    const { store } = this.#settings;
    const first = segments.find(({ init }) => init)?.init;
    if (!first) return null;
    const track = storedTrackOf(first);
    const rows: StoredSegment[] = [];
    const inits = new Set<string>();
    for (const segment of segments) {
      const { init, msn, programDateTimeMs, discontinuity, parts, views } = segment;
      if (!init) continue;
      if (!inits.has(init.name)) await store.put(`${keyPrefix}${rendition}/${init.name}`, init.bytes);
      inits.add(init.name);
      // One fragment per segment, as in a recording.
      const bytes = Buffer.concat(joinFragments(parts.map((part) => part.views)) ?? views);
      const span = spanName(EPOCH, msn);
      await store.put(`${keyPrefix}${rendition}/${span}`, bytes);
      const inTicks = (ticks: number): number => rescale(ticks, segment.timescale, track.timescale);
      rows.push({
        ...{ msn, epoch: EPOCH, programDateTimeMs, discontinuity, gap: false },
        ...{ startTicks: inTicks(segment.startTicks), durationTicks: inTicks(segment.durationTicks) },
        ...{ isIndependent: parts[0]?.isIndependent ?? false, init: init.name },
        ...{ span, offset: 0, length: bytes.byteLength },
      });
    }
    return { rendition, track, segments: rows, spanBytes: new Map(rows.map(({ span, length }) => [span, length])) };
  }
}

/** The segments of one rendition that a clip needs: the complete ones, and those completed while the clip waits. */
class HeldSegments {
  readonly #rendition: LiveRendition;
  readonly #window: ClipWindow;
  readonly #held: LiveSegment[] = [];

  constructor(rendition: LiveRendition, window: ClipWindow) {
    this.#rendition = rendition;
    this.#window = window;
    this.#hold();
  }

  get name(): string {
    return this.#rendition.name;
  }

  get segments(): readonly LiveSegment[] {
    return this.#held;
  }

  /** False for a rung that lacks one of the source's segments: players select by bitrate alone and would stop there. */
  isPlayableBeside(source: HeldSegments | undefined): boolean {
    const isRung = this !== source && this.#held.some(({ init }) => init?.track.kind === "video");
    const own = new Set(this.#held.flatMap(({ init, msn }) => (init ? [msn] : [])));
    return !isRung || (source?.segments ?? []).every(({ init, msn }) => !init || own.has(msn));
  }

  /** Resolves when all segments are complete, or after the maximum wait. */
  whole(clock: Clock): Promise<void> {
    return whenRendition(this.#rendition, () => this.#hold(), clock, MAX_WAIT_MS);
  }

  release(): void {
    for (const segment of this.#held) segment.release();
  }

  /** True if the rendition has reached the end of the clip, or has ended. */
  #hold(): boolean {
    const { fromMs, toMs } = this.#window;
    let endMs = 0;
    for (const segment of this.#rendition.completed) {
      const { msn, programDateTimeMs } = segment;
      endMs = programDateTimeMs + segment.seconds * 1000;
      if (msn <= (this.#held.at(-1)?.msn ?? -1) || endMs <= fromMs || programDateTimeMs >= toMs) continue;
      segment.retain();
      this.#held.push(segment);
    }
    return endMs >= toMs || this.#rendition.hasEnded;
  }
}
