import { SharedText } from "../../platform/http/shared-text.ts";
import type { Slices } from "../../platform/slices.ts";
import type { MediaIndex, StoredRendition } from "../../ports/index.ts";
import { ArchiveMp4 } from "./archive-mp4.ts";
import { type Bitrates, GAP_FILE, iFramePieces, iFramesOf, playlistPieces } from "./archive-playlists.ts";
import { withMissing } from "./missing-segments.ts";
import type { StoredMedia } from "./stored-media.ts";

/** A rendition of stored media with values derived from its index. */
export interface OpenRendition {
  readonly stored: StoredRendition;
  /** All file names that exist; no other is served. */
  readonly files: ReadonlySet<string>;
  readonly bitrates: Bitrates;
  /** EXT-X-TARGETDURATION, in seconds. */
  readonly targetDuration: number;
  /** Of its keyframes alone; null without any. */
  readonly iFrameBitrates: Bitrates | null;
  /** Rendered on first request, and shared by all. */
  readonly playlist: () => Promise<SharedText>;
  readonly iFramePlaylist: () => Promise<SharedText>;
}

/** Stored media with everything derived from its index, each computed once and shared by all requests. */
export class OpenMedia {
  readonly media: StoredMedia;
  readonly renditions: ReadonlyMap<string, OpenRendition>;
  readonly #mp4s: ReadonlyMap<string, () => Promise<ArchiveMp4>>;

  private constructor(
    media: StoredMedia,
    renditions: readonly OpenRendition[],
    mp4s: ReadonlyMap<string, () => Promise<ArchiveMp4>>,
  ) {
    this.media = media;
    this.renditions = new Map(renditions.map((rendition) => [rendition.stored.rendition, rendition]));
    this.#mp4s = mp4s;
  }

  /** `noteMp4Size` is called whenever the MP4 is laid out. */
  static async open(
    media: StoredMedia,
    slices: Slices,
    noteMp4Size: (bytes: number) => void = () => {},
  ): Promise<OpenMedia> {
    const { index } = media;
    // A reader of HLS that tries a rendition of gaps alone stops there: FFmpeg does, although the others play.
    const withMedia = index.renditions.filter(({ segments }) => segments.some(({ gap }) => !gap));
    const renditions = await Promise.all(withMedia.map((stored) => lookThrough(stored, media, slices)));
    const source = async (): Promise<ArchiveMp4> => {
      const mp4 = await ArchiveMp4.build(media, slices);
      noteMp4Size(mp4.size);
      return mp4;
    };
    const named = (index.mp4s ?? []).map(({ name, rendition }) => {
      const build = () => ArchiveMp4.build(media, slices, rendition);
      return [name, onceFor(build)] as const;
    });
    return new OpenMedia(media, renditions, new Map(index.mp4s ? named : [["source", onceFor(source)]]));
  }

  get index(): MediaIndex {
    return this.media.index;
  }

  /** Laid out on first request; null if there is none of that name. */
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

async function lookThrough(stored: StoredRendition, media: StoredMedia, slices: Slices): Promise<OpenRendition> {
  const { track, segments } = stored;
  const [inits, files] = [new Set<string>(), new Set<string>()];
  let [bits, ticks, longestTicks] = [0, 0, 0];
  // Recordings of earlier versions lack `isIndependent`.
  let areIndependent = true;
  await slices.forEach(
    withMissing(segments, track.timescale),
    ({ gap, init, span, length, durationTicks, isIndependent = false }) => {
      longestTicks = Math.max(longestTicks, durationTicks);
      if (gap) return void files.add(GAP_FILE);
      areIndependent &&= isIndependent;
      inits.add(init);
      files.add(init).add(span);
      if (durationTicks === 0) return;
      bits += length * 8;
      ticks += durationTicks;
    },
  );
  const average = bits / Math.max(ticks / track.timescale, 0.001);
  const targetDuration = Math.max(1, Math.round(longestTicks / track.timescale));
  const peak = await peakOf(stored, (targetDuration * track.timescale) / 2, slices);
  const listing = { stored, targetDuration, independentSegments: areIndependent };
  const initBytes = onceFor(() => lengthsOf(inits, (init) => media.readInit(stored.rendition, init)));
  const render = (pieces: typeof playlistPieces) =>
    onceFor(async () => SharedText.render(slices, pieces({ ...listing, initBytes: await initBytes() })));
  return {
    stored,
    files,
    targetDuration,
    bitrates: { peak: Math.ceil(peak), average: Math.ceil(average) },
    iFrameBitrates: await iFrameBitratesOf(stored, slices),
    playlist: render(playlistPieces),
    iFramePlaylist: render(iFramePieces),
  };
}

/**
 * The highest bits per second of segments in a row that last `leastTicks` together (RFC 8216bis 4.4.6.2). Alone, a keyframe with which a broadcast ends has
 * many times the bitrate of the others.
 */
async function peakOf({ segments, track }: StoredRendition, leastTicks: number, slices: Slices): Promise<number> {
  let [peak, before, now] = [1, { bits: 0, ticks: 0 }, { bits: 0, ticks: 0 }];
  const look = (bits: number, ticks: number): void => {
    if (ticks > 0) peak = Math.max(peak, (bits * track.timescale) / ticks);
  };
  await slices.forEach(segments, ({ gap, length, durationTicks }) => {
    if (gap) return;
    now = { bits: now.bits + length * 8, ticks: now.ticks + durationTicks };
    if (now.ticks < leastTicks) return;
    look(now.bits, now.ticks);
    [before, now] = [now, { bits: 0, ticks: 0 }];
  });
  look(before.bits + now.bits, before.ticks + now.ticks);
  return peak;
}

async function iFrameBitratesOf(stored: StoredRendition, slices: Slices): Promise<Bitrates | null> {
  let [bits, seconds, peak] = [0, 0, 0];
  await slices.forEach(iFramesOf(stored), ({ keyframeBytes = 0, shownTicks }) => {
    const shown = Math.max(shownTicks / stored.track.timescale, 0.001);
    bits += keyframeBytes * 8;
    seconds += shown;
    peak = Math.max(peak, (keyframeBytes * 8) / shown);
  });
  return seconds > 0 ? { peak: Math.ceil(peak), average: Math.ceil(bits / seconds) } : null;
}

/**
 * The lengths of the init segments if there are several. Unless the playlist gives a byte range, FFmpeg requests the next init segment on a
 * kept-alive connection with the range of the previous media segment, and then waits for bytes that do not exist until the connection is closed.
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

/** Caches a successful result. After a failure the next caller tries again. */
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
