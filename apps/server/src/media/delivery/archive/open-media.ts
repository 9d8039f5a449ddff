import type { Slices } from "../../../platform/slices.ts";
import type { MediaIndex, StoredRendition } from "../../../ports/index.ts";
import { ArchiveMp4 } from "./archive-mp4.ts";
import { type Bitrates, playlistPieces } from "./archive-playlists.ts";
import type { ReadInit } from "./mp4-track.ts";
import { SharedText } from "./shared-text.ts";

/** A small object of the store; null where it is not there. */
export type ReadFile = (key: string) => Promise<Uint8Array | null>;

/** A rendition of stored media, looked through once. */
export interface OpenRendition {
  readonly stored: StoredRendition;
  /** Every file that may be asked for: whatever is not in here does not exist. */
  readonly files: ReadonlySet<string>;
  readonly bitrates: Bitrates;
  /** Made when it is first asked for; all who ask get the same. */
  readonly playlist: () => Promise<SharedText>;
}

/** Stored media with what is made of its index, each once and for all who ask. */
export class OpenMedia {
  readonly index: MediaIndex;
  readonly renditions: ReadonlyMap<string, OpenRendition>;
  readonly #mp4s: ReadonlyMap<string, () => Promise<ArchiveMp4>>;

  private constructor(
    index: MediaIndex,
    renditions: readonly OpenRendition[],
    mp4s: ReadonlyMap<string, () => Promise<ArchiveMp4>>,
  ) {
    this.index = index;
    this.renditions = new Map(renditions.map((rendition) => [rendition.stored.rendition, rendition]));
    this.#mp4s = mp4s;
  }

  /** `noteMp4Size` is told whenever the MP4 is made. */
  static async open(
    index: MediaIndex,
    readFile: ReadFile,
    slices: Slices,
    noteMp4Size: (bytes: number) => void = () => {},
  ): Promise<OpenMedia> {
    const readInit: ReadInit = (rendition, init) => readFile(`${index.keyPrefix}${rendition}/${init}`);
    const renditions = await Promise.all(index.renditions.map((stored) => lookThrough(stored, readInit, slices)));
    const source = async (): Promise<ArchiveMp4> => {
      const mp4 = await ArchiveMp4.build(index, readInit, slices);
      noteMp4Size(mp4.size);
      return mp4;
    };
    const named = (index.mp4s ?? []).map(({ name, rendition }) => {
      const build = () => ArchiveMp4.build(index, readInit, slices, rendition);
      return [name, onceFor(build)] as const;
    });
    return new OpenMedia(index, renditions, new Map(index.mp4s ? named : [["source", onceFor(source)]]));
  }

  /** Made when it is first asked for; null where there is none of that name. */
  async mp4(name: string): Promise<ArchiveMp4 | null> {
    return (await this.#mp4s.get(name)?.()) ?? null;
  }

  hasMp4(name: string): boolean {
    return this.#mp4s.has(name);
  }

  get segments(): number {
    return this.index.renditions.reduce((sum, { segments }) => sum + segments.length, 0);
  }
}

async function lookThrough(stored: StoredRendition, read: ReadInit, slices: Slices): Promise<OpenRendition> {
  const { track, segments } = stored;
  const [inits, files] = [new Set<string>(), new Set<string>()];
  let [bits, ticks, peak, longestTicks] = [0, 0, 1, 0];
  // What an earlier version recorded does not say.
  let areIndependent = true;
  await slices.forEach(segments, ({ gap, init, span, length, durationTicks, isIndependent = false }) => {
    longestTicks = Math.max(longestTicks, durationTicks);
    if (gap) return;
    areIndependent &&= isIndependent;
    inits.add(init);
    files.add(init).add(span);
    if (durationTicks === 0) return;
    bits += length * 8;
    ticks += durationTicks;
    peak = Math.max(peak, (length * 8 * track.timescale) / durationTicks);
  });
  const average = bits / Math.max(ticks / track.timescale, 0.001);
  const targetDuration = Math.max(1, Math.round(longestTicks / track.timescale));
  const listing = { stored, targetDuration, independentSegments: areIndependent };
  return {
    stored,
    files,
    bitrates: { peak: Math.ceil(peak), average: Math.ceil(average) },
    playlist: onceFor(async () => {
      const initBytes = await lengthsOf(inits, (init) => read(stored.rendition, init));
      return SharedText.render(slices, playlistPieces({ ...listing, initBytes }));
    }),
  };
}

/**
 * Where there are several: FFmpeg asks a kept connection for the next init segment by the range of the media segment before, unless the playlist gives one, and then waits
 * for more bytes than there are until the connection is closed.
 */
async function lengthsOf(
  inits: ReadonlySet<string>,
  read: (init: string) => Promise<Uint8Array | null>,
): Promise<Map<string, number>> {
  const lengths = new Map<string, number>();
  if (inits.size < 2) return lengths;
  for (const init of inits) {
    const bytes = await read(init);
    if (bytes) lengths.set(init, bytes.byteLength);
  }
  return lengths;
}

/** The same value for all; what failed is tried again by who asks next. */
function onceFor<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
