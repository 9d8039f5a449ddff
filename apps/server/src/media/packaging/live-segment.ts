import type { Track } from "../packet.ts";
import { PageChain, type PageMemory } from "../page-memory.ts";

/** An init segment: the bytes that a decoder needs first, named by their hash so that one name never means two things. */
export interface InitSegment {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly track: Track;
  /** Ticks per second of the samples that follow. */
  readonly timescale: number;
}

export interface PartTiming {
  readonly durationTicks: number;
  /**
   * From the end of the part before to the start of this one: what the guessed duration of that part's last sample was short of the truth. Negative if
   * it was too long.
   */
  readonly lateTicks: number;
  readonly frames: number;
  readonly isIndependent: boolean;
}

export interface LivePart extends PartTiming {
  /** The part's bytes, as a sequence of views. */
  readonly views: readonly Uint8Array[];
  readonly byteLength: number;
}

/** A segment's position. */
export interface SegmentPlace {
  readonly msn: number;
  /** Ticks per second of start and durations; may differ from the previous segment if the source changed. */
  readonly timescale: number;
  /** Start, in ticks of the rendition's timescale. */
  readonly startTicks: number;
  readonly programDateTimeMs: number;
  readonly discontinuity: boolean;
  /** Null for a gap: the rendition has no bytes for this MSN. */
  readonly init: InitSegment | null;
  /** The last picture, shown to live viewers while the source is away. What stores segments has a gap there. */
  readonly isSlate?: boolean;
}

/**
 * A segment of one rendition, in memory. Its bytes are the concatenated bytes of its parts. The live window holds one reference; a response or a
 * recorder that still reads the bytes retains it. After the last release the memory is reused.
 */
export class LiveSegment implements SegmentPlace {
  readonly msn: number;
  readonly timescale: number;
  readonly startTicks: number;
  readonly programDateTimeMs: number;
  readonly discontinuity: boolean;
  readonly init: InitSegment | null;
  readonly isSlate: boolean;
  readonly #memory: PageMemory;
  readonly #parts: LivePart[] = [];
  readonly #chain: PageChain;
  #views: readonly Uint8Array[] | null = null;
  #durationTicks: number;
  #frames = 0;
  #shares = 1;

  constructor(place: SegmentPlace, memory: PageMemory, durationTicks = 0) {
    this.msn = place.msn;
    this.timescale = place.timescale;
    this.startTicks = place.startTicks;
    this.programDateTimeMs = place.programDateTimeMs;
    this.discontinuity = place.discontinuity;
    this.init = place.init;
    this.isSlate = place.isSlate ?? false;
    this.#memory = memory;
    this.#chain = new PageChain(memory);
    this.#durationTicks = durationTicks;
  }

  get parts(): readonly LivePart[] {
    return this.#parts;
  }

  get durationTicks(): number {
    return this.#durationTicks;
  }

  get startSeconds(): number {
    return this.startTicks / this.timescale;
  }

  get seconds(): number {
    return this.#durationTicks / this.timescale;
  }

  get bytes(): number {
    return this.#chain.byteLength;
  }

  get frames(): number {
    return this.#frames;
  }

  /** The bytes of all parts, as a sequence of views. */
  get views(): readonly Uint8Array[] {
    this.#views ??= this.#chain.from(0);
    return this.#views;
  }

  /** The init segment of what is stored of it; null for a gap. */
  get storedInit(): InitSegment | null {
    return this.isSlate ? null : this.init;
  }

  /** The same number and time without bytes. */
  asGap(): LiveSegment {
    const { msn, timescale, startTicks, programDateTimeMs, discontinuity } = this;
    const place = { msn, timescale, startTicks, programDateTimeMs, discontinuity, init: null };
    return new LiveSegment(place, this.#memory, this.#durationTicks);
  }

  /** Copy the pieces of a part behind the previous parts. */
  add(pieces: readonly Uint8Array[], timing: PartTiming): void {
    const start = this.#chain.byteLength;
    for (const piece of pieces) this.#chain.append(piece);
    const byteLength = this.#chain.byteLength - start;
    this.#parts.push({ ...timing, views: this.#chain.from(start), byteLength });
    this.#views = null;
    this.#durationTicks += timing.lateTicks + timing.durationTicks;
    this.#frames += timing.frames;
  }

  /** Keep the bytes until `release`. */
  retain(): void {
    this.#shares++;
  }

  release(): void {
    if (--this.#shares === 0) this.#chain.giveBack();
  }
}
