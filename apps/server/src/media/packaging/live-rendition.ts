import type { Clock, Timer } from "../../platform/clock.ts";
import type { TargetDuration } from "../timeline/target-duration.ts";
import type { LiveSegment, PartTiming } from "./live-segment.ts";
import type { PartPlace, WindowRendition } from "./window-rendition.ts";

/** A player that stays three target durations behind the edge, and joins a segment earlier, is still two away from the oldest segment. */
const WINDOW_TARGET_DURATIONS = 6;
/** Limits that hold for any durations: 12 s at 89 Mbit/s, and far more segments than a list of 12 s has. */
const MAX_LISTED_BYTES = 128 * 1024 * 1024;
const MAX_LISTED = 100;
/** Above this limit, delisted segments are released at once. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

/**
 * The live window of one rendition: the complete segments in its playlist, the open segment, and delisted segments for as long as RFC 8216 6.2.2
 * demands (their own duration plus that of the longest list that contained them). A published segment never changes. `version` rises with each
 * addition, for caches of rendered content.
 */
export class LiveRendition implements WindowRendition {
  readonly name: string;
  readonly #target: Pick<TargetDuration, "seconds">;
  readonly #clock: Clock;
  readonly #byMsn = new Map<number, LiveSegment>();
  readonly #listed: LiveSegment[] = [];
  readonly #delisted: { readonly msn: number; readonly until: number }[] = [];
  readonly #listeners = new Set<() => void>();
  #listedSeconds = 0;
  #peakBps = 0;
  #frameRate: number | null = null;
  #listedBytes = 0;
  #delistedBytes = 0;
  #release: Timer | null = null;
  #open: LiveSegment | null = null;
  #expectedMsn: number | null = null;
  #firstMsn: number | null = null;
  #isTelling = false;
  #discontinuitySequence: number;
  #hasEnded = false;
  version = 0;

  /** `known`: of a window that another node began. */
  constructor(
    name: string,
    discontinuitySequence: number,
    target: Pick<TargetDuration, "seconds">,
    clock: Clock,
    known: Partial<Pick<WindowRendition, "firstMsn" | "peakBps" | "frameRate">> = {},
  ) {
    this.name = name;
    this.#firstMsn = known.firstMsn ?? null;
    this.#peakBps = known.peakBps ?? 0;
    this.#frameRate = known.frameRate ?? null;
    this.#target = target;
    this.#discontinuitySequence = discontinuitySequence;
    this.#clock = clock;
  }

  /** The highest bits per second of about a segment since the session began on this node; 0 before the first. */
  get peakBps(): number {
    return this.#peakBps;
  }

  /** Frames per second: as the encoder declares, else as the first complete segment has. Null before; then it never changes, since players tell levels apart by it. */
  get frameRate(): number | null {
    return this.#frameRate;
  }

  get firstMsn(): number | null {
    return this.#firstMsn;
  }

  get targetDuration(): number {
    return this.#target.seconds;
  }

  get listed(): readonly LiveSegment[] {
    return this.#listed;
  }

  get open(): LiveSegment | null {
    return this.#open;
  }

  /** All that are complete and in memory, also those that fell out of the list. */
  get completed(): readonly LiveSegment[] {
    return [...this.#byMsn.values()].filter((segment) => segment !== this.#open);
  }

  /** Program date-time of the end of the last complete segment, in milliseconds since the epoch; 0 before the first. */
  get endMs(): number {
    const last = this.#listed.at(-1);
    return last ? last.programDateTimeMs + last.seconds * 1000 : 0;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Discontinuities that left the list (EXT-X-DISCONTINUITY-SEQUENCE). */
  get discontinuitySequence(): number {
    return this.#discontinuitySequence;
  }

  get newestPart(): PartPlace | null {
    const open = this.#open;
    if (open && open.parts.length > 0) return { msn: open.msn, part: open.parts.length - 1 };
    const last = this.#listed.at(-1);
    return last ? { msn: last.msn, part: Math.max(0, last.parts.length - 1) } : null;
  }

  get nextPart(): PartPlace | null {
    if (this.#hasEnded) return null;
    if (this.#open) return { msn: this.#open.msn, part: this.#open.parts.length };
    return this.#expectedMsn === null ? null : { msn: this.#expectedMsn, part: 0 };
  }

  segment(msn: number): LiveSegment | undefined {
    return this.#byMsn.get(msn);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The segment after the complete one; null if none is known. */
  expect(msn: number | null): void {
    if (this.#expectedMsn === msn) return;
    this.#expectedMsn = msn;
    this.#changed();
  }

  begin(segment: LiveSegment): void {
    this.#joinOrRestart(segment);
    this.#open = segment;
    this.#frameRate ??= declaredFrameRate(segment);
    this.#firstMsn ??= segment.msn;
    this.#expectedMsn = null;
    this.#byMsn.set(segment.msn, segment);
  }

  publish(pieces: readonly Uint8Array[], timing: PartTiming): void {
    const open = this.#open;
    if (!open) throw new Error(`rendition ${this.name}: a part was published outside a segment`);
    open.add(pieces, timing);
    this.#changed();
  }

  /** The open segment is complete. */
  complete(): LiveSegment {
    const segment = this.#open;
    if (!segment) throw new Error(`rendition ${this.name}: there is no open segment to complete`);
    this.#open = null;
    this.#list(segment);
    return segment;
  }

  /** The open segment will never be complete, and is forgotten. */
  dropOpen(): void {
    const open = this.#open;
    if (!open) return;
    this.#open = null;
    this.#byMsn.delete(open.msn);
    if (this.#listed.length === 0) this.#firstMsn = null;
    open.release();
    this.#changed();
  }

  /** List an MSN for which this rendition has no bytes. */
  gap(segment: LiveSegment): void {
    this.#joinOrRestart(segment);
    this.#firstMsn ??= segment.msn;
    this.#byMsn.set(segment.msn, segment);
    this.#list(segment);
  }

  /** No more media: playlists end. */
  end(): void {
    this.#hasEnded = true;
    this.#changed();
  }

  /** Nobody will ask again: release the memory. */
  dispose(): void {
    this.#release?.cancel();
    for (const segment of this.#byMsn.values()) segment.release();
    this.#byMsn.clear();
    this.#open = null;
    this.#listed.length = 0;
    this.#delisted.length = 0;
  }

  #list(segment: LiveSegment): void {
    this.#listed.push(segment);
    this.#listedSeconds += segment.seconds;
    this.#listedBytes += segment.bytes;
    this.#frameRate ??= measuredFrameRate(segment);
    this.#peakBps = Math.max(this.#peakBps, this.#newestBps());
    for (let oldest = this.#listed[0]; oldest && this.#isOver(oldest); oldest = this.#listed[0]) this.#delist(oldest);
    this.#releaseDelisted();
    this.#changed();
  }

  /**
   * Of the newest segments that last half a target duration together (RFC 8216bis 4.4.6.2); 0 before there are so many. Alone, a keyframe behind which the
   * source was lost has many times the bitrate of the stream, and players would avoid the rendition for the rest of the session.
   */
  #newestBps(): number {
    const least = this.targetDuration / 2;
    let [bits, seconds] = [0, 0];
    for (let nth = this.#listed.length - 1; nth >= 0 && seconds < least; nth--) {
      const segment = this.#listed[nth] as LiveSegment;
      bits += segment.bytes * 8;
      seconds += segment.seconds;
    }
    return seconds < least ? 0 : bits / seconds;
  }

  /** A list numbers its segments one after the other: what is before a hole in the numbers is not listed with what is behind it. */
  #joinOrRestart({ msn }: LiveSegment): void {
    const last = this.#listed.at(-1);
    if (!last || msn === last.msn + 1) return;
    for (const oldest of [...this.#listed]) this.#delist(oldest);
    this.#firstMsn = msn;
    this.#releaseDelisted();
  }

  #delist(oldest: LiveSegment): void {
    const until = this.#clock.monotonic() + (oldest.seconds + this.#listedSeconds) * 1000;
    this.#listed.shift();
    this.#listedSeconds -= oldest.seconds;
    this.#listedBytes -= oldest.bytes;
    this.#delistedBytes += oldest.bytes;
    if (oldest.discontinuity) this.#discontinuitySequence++;
    this.#delisted.push({ msn: oldest.msn, until });
  }

  /** Runs in time even if no segment follows: a session whose source is away, or that has ended, soon holds its list alone. */
  #releaseDelisted(): void {
    const now = this.#clock.monotonic();
    let oldest = this.#delisted[0];
    for (; oldest && this.#isGone(oldest.until, now); oldest = this.#delisted[0]) {
      this.#delisted.shift();
      const segment = this.#byMsn.get(oldest.msn);
      this.#delistedBytes -= segment?.bytes ?? 0;
      segment?.release();
      this.#byMsn.delete(oldest.msn);
    }
    this.#release?.cancel();
    this.#release = oldest ? this.#clock.after(oldest.until - now, () => this.#releaseDelisted()) : null;
  }

  #isOver(oldest: LiveSegment): boolean {
    const isLongWithout = this.#listedSeconds - oldest.seconds >= WINDOW_TARGET_DURATIONS * this.targetDuration;
    return isLongWithout || this.#listedBytes > MAX_LISTED_BYTES || this.#listed.length > MAX_LISTED;
  }

  #isGone(until: number, now: number): boolean {
    return now >= until || this.#listedBytes + this.#delistedBytes > MAX_KEPT_BYTES;
  }

  /**
   * Listeners are notified once, after the turn. The last part of a segment and the cut that closes it come in one turn, and nobody sees one
   * without the other.
   */
  #changed(): void {
    this.version++;
    if (this.#isTelling || this.#listeners.size === 0) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

/** Common rates, for what sources count in milliseconds. */
const FRAME_RATES = [24_000 / 1001, 24, 25, 30_000 / 1001, 30, 48, 50, 60_000 / 1001, 60, 120];
const ROUNDING = 0.0005;
const MAX_DECLARED = 240;

function declaredFrameRate({ init }: LiveSegment): number | null {
  if (init?.track.kind !== "video") return null;
  const { frameRate = 0 } = init.track;
  return frameRate >= 1 && frameRate <= MAX_DECLARED ? frameRate : null;
}

function measuredFrameRate({ init, frames, seconds }: LiveSegment): number | null {
  if (init?.track.kind !== "video" || seconds === 0) return null;
  const measured = frames / seconds;
  return FRAME_RATES.find((rate) => Math.abs(measured / rate - 1) < ROUNDING) ?? measured;
}
