import { FormatError } from "../bits/index.ts";
import { boxesIn, boxHeadAt, boxIn, withinBox } from "./source-boxes.ts";
import type { SourceFormat } from "./source-entry.ts";
import { fragmentSamples, readTracks, type SourceSample, type SourceTrack, TICKS } from "./source-tracks.ts";

/** Eight hours with B-frames. */
const MAX_MOOV_BYTES = 16 * 1024 * 1024;
const MAX_MOOF_BYTES = 1024 * 1024;
const MAX_SAMPLE_BYTES = 8 * 1024 * 1024;
/** Buffers of longer samples grow with what arrives. */
const START_BYTES = 256 * 1024;
/** Samples without a byte in a row: nothing bounds their number but a count. */
const MAX_EMPTY = 1000;
/** Runs of samples in a fragment, of all its tracks. For each sample all of them are looked at, and real fragments have one of each track, or some dozens that alternate. */
const MAX_RUNS = 1_000;
/** Samples of fragments in a row that lie before what is read. Their number, too, is only said. */
const MAX_PASSED = 10_000;
/** Picture and sound of one time may be so far apart in the file. */
const MAX_APART_TICKS = 8 * TICKS;
const HEAD_BYTES = 16;

export interface Mp4Frame {
  readonly kind: "video" | "audio";
  /** Ticks of 90 kHz. */
  readonly decode: number;
  readonly presentation: number;
  readonly isSync: boolean;
  /** Belongs to the receiver. */
  readonly data: Uint8Array;
}

export interface Mp4Handler {
  /** How many tracks the file has beside those that are read. */
  others(others: Readonly<Record<"video" | "audio" | "captions", number>>): void;
  /** The first track of its kind, before its frames. */
  track(format: SourceFormat): void;
  frame(frame: Mp4Frame): void;
  /** Picture and sound lie too far apart in the file to be read in one go. */
  apart(): void;
}

interface Upcoming {
  readonly track: SourceTrack;
  readonly samples: Generator<SourceSample, void>;
  sample: SourceSample | null;
}

type State =
  | { readonly in: "head" }
  /** Of a box that is wanted whole; `bytes` grows with what arrives. */
  | {
      readonly in: "box";
      readonly type: "moov" | "moof";
      readonly at: number;
      readonly end: number;
      bytes: Uint8Array;
      filled: number;
    }
  | { readonly in: "other" | "media"; readonly end: number };

/**
 * Reads MP4 that anybody wrote, as it arrives: files with their index before the media, or behind it if `seek` leads there first, and fragments with
 * their init segment. It takes the first video and the first audio track. Memory depends on what has arrived, not on lengths. Throws `FormatError`.
 */
export class Mp4Reader {
  readonly #handler: Mp4Handler;
  readonly #allocate: (bytes: number) => Uint8Array;
  #position = 0;
  #state: State = { in: "head" };
  readonly #head = new Uint8Array(HEAD_BYTES);
  #headFilled = 0;
  #tracks: SourceTrack[] = [];
  /** Where a track's last fragment ended, by its id. */
  readonly #ends = new Map<number, bigint>();
  #upcoming: Upcoming[] = [];
  #indexBytes = 0;
  #isFile = false;
  #sample: Uint8Array | null = null;
  #sampleFilled = 0;
  #empty = 0;
  #passed = 0;
  #early: { readonly at: number; readonly end: number } | null = null;

  constructor(handler: Mp4Handler, allocate: (bytes: number) => Uint8Array = (bytes) => new Uint8Array(bytes)) {
    this.#handler = handler;
    this.#allocate = allocate;
  }

  /** A file whose last sample was read. */
  get isComplete(): boolean {
    return this.#isFile && this.#upcoming.length === 0;
  }

  /** The tracks are known. */
  get hasIndex(): boolean {
    return this.#tracks.length > 0;
  }

  /** Its samples are in tables, not in fragments. */
  get isFile(): boolean {
    return this.#isFile;
  }

  /** The first box of media, if it came before the tracks: its samples were left out. `end` is infinite if it says none. */
  get mediaBeforeIndex(): { readonly at: number; readonly end: number } | null {
    return this.#early;
  }

  /** Bytes that are kept until the end. */
  get kept(): number {
    return this.#indexBytes + (this.#state.in === "box" ? this.#state.bytes.byteLength : 0);
  }

  /** What follows is at this byte of the file, where a box begins. */
  seek(position: number): void {
    this.#position = position;
    this.#state = { in: "head" };
    this.#headFilled = 0;
    this.#dropSample();
  }

  push(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.byteLength && !this.isComplete) {
      const taken = this.#take(at === 0 ? bytes : bytes.subarray(at));
      at += taken;
    }
  }

  /** Returns how many bytes were taken; more than none. */
  #take(bytes: Uint8Array): number {
    const state = this.#state;
    if (state.in === "head") return this.#takeHead(bytes);
    const left = Math.min(bytes.byteLength, state.end - this.#position);
    if (state.in === "box") {
      this.#keep(state, bytes.subarray(0, left));
      this.#position += left;
      if (this.#position === state.end) this.#readBox(state);
      return left;
    }
    const taken = state.in === "media" ? this.#takeMedia(bytes.subarray(0, left), state.end) : left;
    this.#position += taken;
    if (this.#position === state.end) this.#state = { in: "head" };
    return taken;
  }

  #takeHead(bytes: Uint8Array): number {
    // A long size needs 16 bytes; all others have 8.
    const isLong = () =>
      this.#headFilled >= 4 && this.#head[3] === 1 && !(this.#head[0] || this.#head[1] || this.#head[2]);
    let taken = 0;
    while (taken < bytes.byteLength && this.#headFilled < (isLong() ? 16 : 8)) {
      this.#head[this.#headFilled++] = bytes[taken++] ?? 0;
    }
    if (this.#headFilled < (isLong() ? 16 : 8)) {
      this.#position += taken;
      return taken;
    }
    const boxAt = this.#position + taken - this.#headFilled;
    const { type, header, size } = boxHeadAt(new DataView(this.#head.buffer, 0, this.#headFilled), 0);
    this.#headFilled = 0;
    this.#position += taken;
    const end = size === 0 ? Number.POSITIVE_INFINITY : boxAt + size;
    if (type === "moov" || type === "moof") {
      const most = type === "moov" ? MAX_MOOV_BYTES : MAX_MOOF_BYTES;
      if (end - boxAt - header > most) throw new FormatError(`a box ${type} of at most ${most} bytes`, boxAt);
      this.#state = { in: "box", type, at: boxAt, end, bytes: new Uint8Array(0), filled: 0 };
      if (end === this.#position) throw new FormatError(`a box ${type} with contents`, boxAt);
    } else if (type === "mdat" && !this.hasIndex && !this.#early) {
      this.#early = { at: boxAt, end };
      this.#state = { in: "media", end };
    } else if (end > this.#position) this.#state = { in: type === "mdat" ? "media" : "other", end };
    return taken;
  }

  #keep(state: State & { in: "box" }, bytes: Uint8Array): void {
    const filled = state.filled + bytes.byteLength;
    if (filled > state.bytes.byteLength) {
      const larger = new Uint8Array(Math.min(MAX_MOOV_BYTES, Math.max(filled, state.bytes.byteLength * 2)));
      larger.set(state.bytes.subarray(0, state.filled));
      state.bytes = larger;
    }
    state.bytes.set(bytes, state.filled);
    state.filled = filled;
  }

  #readBox({ type, bytes, filled, at }: State & { in: "box" }): void {
    this.#state = { in: "head" };
    const body = new DataView(bytes.buffer, bytes.byteOffset, filled);
    if (type === "moov") this.#readMoov(body);
    else this.#readMoof(body, at);
  }

  #readMoov(moov: DataView): void {
    const { tracks: all, captions } = withinBox(() => readTracks(moov));
    this.#tracks = all.filter(({ index }) => index === 0);
    this.#isFile = boxIn(moov, "mvex") === undefined;
    this.#indexBytes = this.#isFile ? moov.buffer.byteLength : 0;
    this.#ends.clear();
    this.#dropSample();
    const more = (kind: string) => all.filter(({ format, index }) => format.kind === kind && index > 0).length;
    this.#handler.others({ video: more("video"), audio: more("audio"), captions });
    for (const { format } of this.#tracks) this.#handler.track(format);
    this.#upcoming = this.#isFile ? this.#tracks.flatMap((track) => begun(track, track.samples())) : [];
    if (this.#tracks.length === 0) throw new FormatError("a track of video or audio", 0);
  }

  #readMoof(moof: DataView, at: number): void {
    this.#dropSample();
    this.#upcoming = [];
    for (const { type, body } of boxesIn(moof)) {
      const head = type === "traf" ? boxIn(body, "tfhd") : undefined;
      const id = head && head.byteLength >= 8 ? head.getUint32(4) : null;
      const track = this.#tracks.find((one) => one.id === id);
      if (!track) continue;
      const ended = (end: bigint) => void this.#ends.set(track.id, end);
      const samples = fragmentSamples(body, at, track, this.#ends.get(track.id) ?? 0n, ended);
      this.#upcoming.push(...begun(track, samples));
      if (this.#upcoming.length > MAX_RUNS) throw new FormatError(`at most ${MAX_RUNS} runs in a fragment`, at);
    }
  }

  /** Media, up to the end of the next sample. Returns how many bytes were taken. */
  #takeMedia(bytes: Uint8Array, end: number): number {
    const next = this.#next();
    if (!next?.sample) return bytes.byteLength;
    const { offset, size } = next.sample;
    if (offset + size > end) throw new FormatError(`a sample within its box, which ends at ${end},`, offset);
    if (offset > this.#position) return Math.min(bytes.byteLength, offset - this.#position);
    const taken = Math.min(bytes.byteLength, size - this.#sampleFilled);
    this.#grow(size, taken);
    this.#sample?.set(bytes.subarray(0, taken), this.#sampleFilled);
    this.#sampleFilled += taken;
    if (this.#sampleFilled === size) this.#pass(next, next.sample);
    return taken;
  }

  /** The track whose sample is next in the file; null behind the last one. Samples without bytes are left out. */
  #next(): Upcoming | null {
    for (;;) {
      let next: Upcoming | undefined;
      for (const one of this.#upcoming) if (!next || (one.sample?.offset ?? 0) < (next.sample?.offset ?? 0)) next = one;
      if (!next?.sample) return null;
      const { size, offset } = next.sample;
      if (size > MAX_SAMPLE_BYTES) throw new FormatError(`a sample of at most ${MAX_SAMPLE_BYTES} bytes`, offset);
      if (size > 0) {
        this.#empty = 0;
        // Its beginning has passed by.
        if (offset < this.#position - this.#sampleFilled) {
          if (this.#isFile) this.#handler.apart();
          else if (++this.#passed > MAX_PASSED) throw new FormatError("samples behind their index", offset);
        } else {
          this.#passed = 0;
          return next;
        }
      } else if (++this.#empty > MAX_EMPTY) throw new FormatError("samples with contents", offset);
      this.#advance(next);
    }
  }

  #advance(one: Upcoming): void {
    const { value } = withinBox(() => one.samples.next());
    one.sample = value ?? null;
    if (!value) this.#upcoming = this.#upcoming.filter((other) => other !== one);
  }

  #pass(one: Upcoming, { decode, presentation, isSync }: SourceSample): void {
    const data = this.#sample ?? new Uint8Array(0);
    const { kind } = one.track.format;
    const frame = { kind, decode, presentation, isSync, data: data.subarray(0, this.#sampleFilled) };
    this.#sample = null;
    this.#sampleFilled = 0;
    this.#advance(one);
    if (this.#isFile)
      for (const { sample } of this.#upcoming)
        if (sample && decode - sample.decode > MAX_APART_TICKS) this.#handler.apart();
    this.#handler.frame(frame);
  }

  #grow(size: number, taken: number): void {
    const filled = this.#sampleFilled + taken;
    const before = this.#sample;
    if (before && filled <= before.byteLength) return;
    const larger = this.#allocate(Math.min(size, Math.max(filled, before ? before.byteLength * 2 : START_BYTES)));
    if (before) larger.set(before.subarray(0, this.#sampleFilled));
    this.#sample = larger;
  }

  #dropSample(): void {
    this.#sample = null;
    this.#sampleFilled = 0;
  }
}

/** None where there is no sample. */
function begun(track: SourceTrack, samples: Generator<SourceSample, void>): Upcoming[] {
  const { value } = withinBox(() => samples.next());
  return value ? [{ track, samples, sample: value }] : [];
}
