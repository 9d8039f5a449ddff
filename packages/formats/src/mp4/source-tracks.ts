import { FormatError } from "../bits/index.ts";
import { BoxTable, boxesIn, boxIn, typeAt } from "./source-boxes.ts";
import { readEntry, type SourceFormat } from "./source-entry.ts";

/** A sample of a foreign file. Times in ticks of 90 kHz. */
export interface SourceSample {
  /** In the file. */
  readonly offset: number;
  readonly size: number;
  readonly decode: number;
  readonly presentation: number;
  readonly isSync: boolean;
}

/** Durations and flags of samples that do not say their own (ISO/IEC 14496-12 8.8.3). */
export interface SampleDefaults {
  readonly duration: number;
  readonly size: number;
  readonly flags: number;
}

export interface SourceTrack {
  readonly id: number;
  /** Among those of its kind in the file. */
  readonly index: number;
  readonly format: SourceFormat;
  /** Ticks per second of its times. */
  readonly timescale: number;
  /** Added to a time of the track, in ticks of 90 kHz (edit list). */
  readonly shift: number;
  readonly defaults: SampleDefaults;
  /** In its order; nothing where the file has fragments. */
  readonly samples: () => Generator<SourceSample, void>;
}

export const TICKS = 90_000;
const MAX_TRACKS = 64;
const DEPENDENT = 0x10000;

/** Handlers of tracks of captions and subtitles. */
const CAPTIONS = new Set(["text", "sbtl", "subt", "clcp"]);

/** The tracks of a `moov`, and how many of captions it has. Memory of what is returned does not depend on what its tables say. Throws `FormatError`. */
export function readTracks(moov: DataView): { tracks: SourceTrack[]; captions: number } {
  const movie = boxIn(moov, "mvhd");
  const movieScale = movie ? timescaleOf(movie) : 1000;
  const tracks: SourceTrack[] = [];
  const counts = { video: 0, audio: 0 };
  let captions = 0;
  const extensions = boxIn(moov, "mvex");
  for (const { type, body } of boxesIn(moov)) {
    if (type !== "trak") continue;
    const media = boxIn(body, "mdia");
    const [handler, header] = [boxIn(media, "hdlr"), boxIn(media, "mdhd")];
    const stsd = boxIn(media, "minf", "stbl", "stsd");
    const id = idOf(boxIn(body, "tkhd"));
    if (handler && handler.byteLength >= 12 && CAPTIONS.has(typeAt(handler, 8))) captions++;
    if (!handler || handler.byteLength < 12 || !header || !stsd || id === null) continue;
    const name = typeAt(handler, 8);
    const kind = name === "vide" ? "video" : name === "soun" ? "audio" : null;
    if (kind === null) continue;
    if (tracks.length >= MAX_TRACKS) throw new FormatError(`at most ${MAX_TRACKS} tracks`, 0);
    const timescale = timescaleOf(header);
    const shift = shiftOf(boxIn(body, "edts", "elst"), timescale, movieScale);
    const table = boxIn(media, "minf", "stbl");
    tracks.push({
      ...{ id, index: counts[kind]++, format: readEntry(stsd, kind), timescale, shift },
      defaults: defaultsOf(extensions, id),
      samples: () => samplesOf(table, timescale, shift),
    });
  }
  return { tracks, captions };
}

const isLong = (body: DataView): boolean => body.byteLength > 0 && body.getUint8(0) === 1;

function idOf(tkhd: DataView | undefined): number | null {
  const at = tkhd && isLong(tkhd) ? 20 : 12;
  return tkhd && tkhd.byteLength >= at + 4 ? tkhd.getUint32(at) : null;
}

/** Of `mvhd` and `mdhd`. */
function timescaleOf(body: DataView): number {
  const at = isLong(body) ? 20 : 12;
  const timescale = body.byteLength >= at + 4 ? body.getUint32(at) : 0;
  if (timescale === 0) throw new FormatError("a timescale", at);
  return timescale;
}

/** Of the first edit that shows media, and of the empty ones before it. */
function shiftOf(elst: DataView | undefined, timescale: number, movieScale: number): number {
  if (!elst || elst.byteLength < 8) return 0;
  const long = isLong(elst);
  const [width, timeAt] = long ? [20, 8] : [12, 4];
  const count = Math.min(elst.getUint32(4), Math.floor((elst.byteLength - 8) / width));
  let empty = 0;
  for (let i = 0; i < count; i++) {
    const at = 8 + i * width;
    const time = long ? Number(elst.getBigInt64(at + timeAt)) : elst.getInt32(at + timeAt);
    const duration = long ? Number(elst.getBigUint64(at)) : elst.getUint32(at);
    if (time >= 0) return Math.round((empty / movieScale - time / timescale) * TICKS);
    empty += duration;
  }
  return 0;
}

function defaultsOf(mvex: DataView | undefined, id: number): SampleDefaults {
  for (const { type, body } of mvex ? boxesIn(mvex) : [])
    if (type === "trex" && body.byteLength >= 24 && body.getUint32(4) === id)
      return { duration: body.getUint32(12), size: body.getUint32(16), flags: body.getUint32(20) };
  return { duration: 0, size: 0, flags: 0 };
}

/** Rows of `count, value`, walked sample by sample. */
class Runs {
  readonly #table: BoxTable;
  #row = 0;
  #used = 0;

  constructor(body: DataView | undefined) {
    this.#table = new BoxTable(body, 8);
  }

  /** Of the next sample; the last one's where the table ends too early. */
  next(): number {
    while (this.#row < this.#table.count && this.#used >= this.#table.at(this.#row)) {
      this.#row++;
      this.#used = 0;
    }
    this.#used++;
    return this.#table.signedAt(Math.min(this.#row, this.#table.count - 1), 4);
  }
}

/** Samples as the tables of a `stbl` place them (ISO/IEC 14496-12 8.5 to 8.7). */
function* samplesOf(table: DataView | undefined, timescale: number, shift: number): Generator<SourceSample, void> {
  const durations = new Runs(boxIn(table, "stts"));
  const compositionBox = boxIn(table, "ctts");
  const compositions = compositionBox ? new Runs(compositionBox) : null;
  const sizeOf = sizesOf(table);
  const [short, long] = [new BoxTable(boxIn(table, "stco"), 4), new BoxTable(boxIn(table, "co64"), 8)];
  const chunks = short.count > 0 ? short.count : long.count;
  const perChunk = new BoxTable(boxIn(table, "stsc"), 12);
  const syncBox = boxIn(table, "stss");
  const syncs = syncBox ? new BoxTable(syncBox, 4) : null;
  let [row, sync, sample, decode] = [0, 0, 0, 0];
  for (let chunk = 0; chunk < chunks; chunk++) {
    // Numbers of chunks and samples begin with 1.
    while (row + 1 < perChunk.count && perChunk.at(row + 1) <= chunk + 1) row++;
    let offset = short.count > 0 ? short.at(chunk) : long.longAt(chunk);
    for (let i = perChunk.at(row, 4); i > 0; i--) {
      const size = sizeOf(sample++);
      if (size === null) return;
      while (syncs && syncs.at(sync) < sample && sync < syncs.count) sync++;
      const presentation = decode + (compositions?.next() ?? 0);
      yield {
        ...{ offset, size, isSync: !syncs || syncs.at(sync) === sample },
        decode: Math.round((decode * TICKS) / timescale) + shift,
        presentation: Math.round((presentation * TICKS) / timescale) + shift,
      };
      offset += size;
      decode += durations.next();
    }
  }
}

/** The size of a sample by its number from 0; null behind the last. */
function sizesOf(table: DataView | undefined): (sample: number) => number | null {
  const sizes = boxIn(table, "stsz");
  const compact = boxIn(table, "stz2");
  if (sizes && sizes.byteLength >= 12) {
    const [same, count] = [sizes.getUint32(4), sizes.getUint32(8)];
    const rows = new BoxTable(sizes, 4, 12);
    return (sample) => (same > 0 ? (sample < count ? same : null) : sample < rows.count ? rows.at(sample) : null);
  }
  if (!compact || compact.byteLength < 12) throw new FormatError("a table of sample sizes", 0);
  const bits = compact.getUint8(7);
  const fit = bits > 0 ? Math.floor(((compact.byteLength - 12) * 8) / bits) : 0;
  const count = Math.min(compact.getUint32(8), fit);
  return (sample) => {
    if (sample >= count) return null;
    if (bits === 16) return compact.getUint16(12 + sample * 2);
    const byte = compact.getUint8(12 + ((sample * bits) >> 3));
    return bits === 8 ? byte : sample % 2 === 0 ? byte >> 4 : byte & 15;
  };
}

/** The samples of a `traf` whose `moof` is at `moofAt` (ISO/IEC 14496-12 8.8.7, 8.8.8 and 8.8.12). `end`: where its track ended before, in its own ticks. */
export function* fragmentSamples(
  traf: DataView,
  moofAt: number,
  track: SourceTrack,
  end: bigint,
  ended: (end: bigint) => void,
): Generator<SourceSample, void> {
  const head = boxIn(traf, "tfhd");
  if (!head || head.byteLength < 8) throw new FormatError("a box tfhd", 0);
  const headFlags = head.getUint32(0) & 0xffffff;
  let at = 8;
  const field = (flag: number, fallback: number): number => {
    if (!(headFlags & flag)) return fallback;
    at += 4;
    if (at > head.byteLength) throw new FormatError("a whole box tfhd", 0);
    return head.getUint32(at - 4);
  };
  let base = moofAt;
  if (headFlags & 1) {
    if (head.byteLength < 16) throw new FormatError("a whole box tfhd", 0);
    base = Number(head.getBigUint64(8));
    at += 8;
  }
  field(2, 0);
  const duration = field(8, track.defaults.duration);
  const size = field(0x10, track.defaults.size);
  const flags = field(0x20, track.defaults.flags);
  const time = boxIn(traf, "tfdt");
  const timeBytes = time && isLong(time) ? 12 : 8;
  const hasTime = time !== undefined && time.byteLength >= timeBytes;
  const first = !hasTime ? end : timeBytes === 12 ? time.getBigUint64(4) : BigInt(time.getUint32(4));
  // Some packagers count from 1970 in ticks of 100 ns, which a number cannot hold.
  const firstTicks = Number((first * BigInt(TICKS)) / BigInt(track.timescale)) + track.shift;
  let [passed, offset] = [0, base];
  for (const { type, body } of boxesIn(traf)) {
    if (type !== "trun") continue;
    const runFlags = body.byteLength >= 8 ? body.getUint32(0) : 0;
    let rowAt = 8;
    if (runFlags & 1) {
      if (body.byteLength < 12) throw new FormatError("a whole box trun", 0);
      offset = base + body.getInt32(rowAt);
      rowAt += 4;
    }
    const firstFlags = runFlags & 4 && body.byteLength >= rowAt + 4 ? body.getUint32(rowAt) : null;
    if (runFlags & 4) rowAt += 4;
    const next = (flag: number, fallback: number): number => {
      if (!(runFlags & flag)) return fallback;
      rowAt += 4;
      if (rowAt > body.byteLength) throw new FormatError("a whole box trun", 0);
      return body.getUint32(rowAt - 4);
    };
    const count = body.byteLength >= 8 ? body.getUint32(4) : 0;
    for (let i = 0; i < count; i++) {
      const ownDuration = next(0x100, duration);
      const ownSize = next(0x200, size);
      const ownFlags = i === 0 && firstFlags !== null ? firstFlags : flags;
      const isSync = (next(0x400, ownFlags) & DEPENDENT) === 0;
      const decode = firstTicks + Math.round((passed * TICKS) / track.timescale);
      const composition = Math.round(((next(0x800, 0) | 0) * TICKS) / track.timescale);
      yield { offset, size: ownSize, decode, presentation: decode + composition, isSync };
      offset += ownSize;
      passed += ownDuration;
    }
  }
  ended(first + BigInt(passed));
}
