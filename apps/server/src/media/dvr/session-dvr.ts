import type { CodedText } from "../../platform/http/shared-text.ts";
import type { Slices } from "../../platform/slices.ts";
import type { RecordedSegment } from "../../ports/index.ts";
import { headOf, type LivePlaylist, SEGMENTS_WITH_PARTS } from "../packaging/hls/live-playlist.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import type { LiveSegment } from "../packaging/live-segment.ts";
import { storedBytesOf } from "../stored/live-rows.ts";
import type { KeptSegments } from "../stored/session-media.ts";
import { type DvrEdge, DvrList } from "./dvr-list.ts";
import type { DvrMoment } from "./dvr-moments.ts";
import type { PlacedRows } from "./placed-rows.ts";

/** Name of the playlists that go back. Those of live viewers stay as they are. */
export const DVR_PLAYLIST = "dvr.m3u8";

/** Of a session. */
const FIRST_MSN = 1;
/** Segments. A rendition that is further behind the others has stopped. */
const MOST_BEHIND = 100;
/** In the multivariant playlist: from when on, in ms since the epoch, and how many seconds behind the live edge viewers can go back. */
const SESSION_DATA = "weir.dvr";

/** Name of the playlists of their keyframes alone. */
export const DVR_I_FRAMES = "dvr-iframes.m3u8";

/** What a session is rewound by. */
export interface SessionDvrSettings {
  /** How far viewers can go back. */
  readonly windowSeconds: number;
  /** When the session began, in ms since the epoch. */
  readonly startedAtMs: number;
  /** Where segments are after the live window, in the order in which they pass through. */
  readonly sources: readonly KeptSegments[];
  /** Whether viewers of the ended session have all they get in its recording. Never rejects. */
  readonly isInRecording: () => Promise<boolean>;
}

/** What a session offers now. */
interface LiveOutputs {
  readonly renditions: readonly LiveRendition[];
  /** Discontinuities of the session before the first segment of this process. */
  readonly breaksBefore: number;
  playlist(name: string): LivePlaylist | undefined;
}

/** A recorded session from its first second, while it is live: rows of its closed segments in memory, bytes in the window, the spool or the store. */
export class SessionDvr {
  readonly #settings: SessionDvrSettings;
  readonly #lists = new Map<string, DvrList>();
  /** The renditions that are recorded. */
  readonly #recorded = new Set<string>();
  /** Rows that were recorded while those of before the restart were being read: in one try, which has a deadline. */
  #early: RecordedSegment[] = [];
  #isReady = true;
  #outputs: LiveOutputs = { renditions: [], breaksBefore: 0, playlist: () => undefined };
  #firstMsn = 0;
  /** Segments of the live window as they are stored. */
  readonly #joined = new WeakMap<LiveSegment, readonly Uint8Array[]>();

  constructor(settings: SessionDvrSettings) {
    this.#settings = settings;
  }

  /** `firstMsn`: what the window has from an owner before is not recorded here. */
  follow(outputs: LiveOutputs, firstMsn: number): void {
    this.#outputs = outputs;
    this.#firstMsn = firstMsn;
  }

  /** Until what was before a restart is read, there is no list: its numbers may not fall. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** What the multivariant playlists tell players of going back. Players read them once, many of them in the moment after a restart. */
  get sessionData(): Readonly<Record<string, string>> {
    const { windowSeconds, startedAtMs } = this.#settings;
    const [list] = this.#lists.values();
    // Before the first segment is closed, the session has just begun.
    const [first] = this.#outputs.renditions;
    const open = (first?.listed[0] ?? first?.open)?.programDateTimeMs ?? startedAtMs;
    const since = this.#isReady ? (list?.sinceMs ?? open) : startedAtMs;
    return { [SESSION_DATA]: `since=${Math.floor(since)},seconds=${windowSeconds}` };
  }

  has(rendition: string): boolean {
    return this.#isReady && this.#recorded.has(rendition);
  }

  /** The session has more than this process has seen, which `load` must read first. */
  awaitEarlier(): void {
    this.#isReady = false;
    this.#early = [];
  }

  /** Takes what the session has from before, by rendition. */
  async load(renditions: ReadonlyMap<string, PlacedRows>, slices: Slices): Promise<void> {
    for (const [name, rows] of renditions) {
      this.#lists.set(name, await this.#listOf(rows, slices));
      this.#recorded.add(name);
    }
    this.#isReady = true;
    this.sync();
    this.recorded(this.#early);
    this.#early = [];
  }

  /** Takes the segments that were closed since. To be called before they leave the live window. */
  sync(): void {
    if (!this.#isReady) return;
    for (const rendition of this.#outputs.renditions) if (this.has(rendition.name)) this.#take(rendition);
  }

  /** The recorder has put them there. */
  recorded(rows: readonly RecordedSegment[]): void {
    if (!this.#isReady) return void this.#early.push(...rows);
    const known = this.#recorded.size;
    for (const { rendition } of rows) this.#recorded.add(rendition);
    if (this.#recorded.size > known) this.sync();
    for (const { rendition, msn, gap, ...place } of rows) if (!gap) this.#lists.get(rendition)?.place(msn, place);
  }

  /** What must be rendered before `text` can answer within a turn of the event loop. Hundreds of viewers ask for each version: nothing, for all but the first. */
  unrendered(rendition: string, isDelta: boolean): Iterable<() => void> {
    const live = this.#outputs.playlist(rendition);
    const list = this.#lists.get(rendition);
    if (!live || !list || list.written(live.rendition.version, isDelta)) return [];
    return list.unrendered();
  }

  /** The list of a rendition; null before its first segment. */
  text(rendition: string, isDelta: boolean, coding: "gzip" | null): CodedText | null {
    const live = this.#outputs.playlist(rendition);
    if (!live || !this.has(rendition)) return null;
    const written = this.#lists.get(rendition)?.written(live.rendition.version, isDelta);
    if (written) return written.in(coding);
    this.#take(live.rendition);
    const list = this.#lists.get(rendition);
    return list && list.length > 0 ? list.text(this.#edge(live), isDelta).in(coding) : null;
  }

  /** What must be rendered before `iFrames` can answer within a turn of the event loop. */
  unrenderedIFrames(rendition: string): Iterable<() => void> {
    return this.#lists.get(rendition)?.keyframes.unrendered() ?? [];
  }

  /** The list of a rendition's keyframes; null if none is known. */
  iFrames(rendition: string, isDelta: boolean, coding: "gzip" | null): CodedText | null {
    const live = this.#outputs.playlist(rendition);
    if (!live || !this.has(rendition)) return null;
    return this.#lists.get(rendition)?.keyframes.text(this.#edge(live), isDelta)?.in(coding) ?? null;
  }

  /** Whether the list of keyframes has come to this number. */
  hasIFrame(rendition: string, msn: number): boolean {
    return this.#lists.get(rendition)?.keyframes.reaches(msn) ?? false;
  }

  /** Bits per second of a rendition's keyframes; null if none is known. */
  iFrameRates(rendition: string) {
    return this.has(rendition) ? (this.#lists.get(rendition)?.keyframes.rates ?? null) : null;
  }

  /** A segment of the live window, which must be retained while it is sent. */
  inWindow(
    rendition: string,
    msn: number,
  ): { readonly segment: LiveSegment; readonly bytes: readonly Uint8Array[] } | null {
    const live = this.#outputs.playlist(rendition)?.rendition;
    const segment = live?.segment(msn);
    if (!segment?.storedInit || segment === live?.open) return null;
    const bytes = this.#joined.get(segment) ?? storedBytesOf(segment);
    this.#joined.set(segment, bytes);
    return { segment, bytes };
  }

  /** Null for a segment that this list does not have. */
  listed(rendition: string, msn: number) {
    return this.#lists.get(rendition)?.segment(msn) ?? null;
  }

  /** Where viewers can go back to and see a picture at once. */
  moments(rendition: string, apartFor: (seconds: number) => number): readonly DvrMoment[] {
    return this.#lists.get(rendition)?.moments(apartFor) ?? [];
  }

  hasInit(rendition: string, init: string): boolean {
    return this.#lists.get(rendition)?.hasInit(init) ?? false;
  }

  /** Number of the oldest segment whose bytes must be here, in any rendition that goes on. */
  get oldestServed(): number {
    if (!this.#isReady || this.#lists.size === 0) return 0;
    const lists = [...this.#lists.values()];
    const newest = Math.max(...lists.map(({ lastMsn }) => lastMsn));
    const growing = lists.filter(({ lastMsn }) => lastMsn > newest - MOST_BEHIND);
    return Math.min(...growing.map((list) => list.oldestServed));
  }

  /** Whether those who go back in the session, which has ended, have all they get in its recording. Never rejects. */
  isInRecording(): Promise<boolean> {
    return this.#settings.isInRecording();
  }

  /** Where segments are after the live window. */
  get sources(): readonly KeptSegments[] {
    return this.#settings.sources;
  }

  async #listOf(rows: PlacedRows, slices: Slices): Promise<DvrList> {
    const list = new DvrList(this.#settings.windowSeconds);
    let [oldest, breaks] = [FIRST_MSN, 0];
    await slices.forEach(rows.inOrder(), (segment) => {
      if (list.length === 0) oldest = segment.msn;
      list.addPlaced(segment);
      if (segment.msn < this.#firstMsn) breaks = list.breaks;
    });
    // The discontinuities of what is not kept any more, which this process has not seen: their number may not fall.
    if (oldest > FIRST_MSN) list.addBreaksBefore(Math.max(0, this.#outputs.breaksBefore - breaks));
    return list;
  }

  #take(rendition: LiveRendition): void {
    const { listed, open, name } = rendition;
    let list = this.#lists.get(name);
    if (!list) {
      const before = listed.filter(({ msn }) => msn < this.#firstMsn);
      if (listed.length === before.length) return;
      const breaks = before.filter(({ discontinuity }) => discontinuity).length;
      list = new DvrList(this.#settings.windowSeconds, rendition.discontinuitySequence + breaks);
      this.#lists.set(name, list);
    }
    const after = Math.max(list.lastMsn, this.#firstMsn - 1);
    for (let index = firstAfter(listed, after); index < listed.length; index++) {
      const segment = listed[index] as LiveSegment;
      const { msn, startSeconds, seconds, programDateTimeMs, discontinuity, storedInit, parts } = segment;
      const isIndependent = parts[0]?.isIndependent ?? true;
      const init = storedInit?.name ?? null;
      list.add({ msn, startSeconds, seconds, programDateTimeMs, discontinuity, isIndependent, init });
    }
    // A slate is for live viewers: here its number is a gap, once it is over.
    if (open && !open.isSlate && open.msn >= this.#firstMsn) list.fill(open);
  }

  #edge(live: LivePlaylist): DvrEdge {
    const { rendition } = live;
    const { listed, open, targetDuration, version, hasEnded } = rendition;
    const newest = hasEnded ? [] : listed.slice(-SEGMENTS_WITH_PARTS).filter(({ isSlate }) => !isSlate);
    const addressOf = (name: string) => (this.has(name) ? `../${name}/${DVR_PLAYLIST}` : null);
    return {
      targetDuration,
      version,
      heads: new Map(newest.map((segment) => [segment.msn, headOf(segment, true)])),
      open: open && !open.isSlate ? { ...headOf(open, true), msn: open.msn } : null,
      lowLatency: live.lowLatency(addressOf, !open?.isSlate),
    };
  }
}

function firstAfter(listed: readonly LiveSegment[], msn: number): number {
  let index = listed.length;
  while (index > 0 && (listed[index - 1] as LiveSegment).msn > msn) index--;
  return index;
}
