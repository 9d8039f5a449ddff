import {
  AUDIO_TRACK_ID,
  entryType,
  type InitDescription,
  inBandEntry,
  type JointTrack,
  parameterSetsOf,
  readInit,
  VIDEO_TRACK_ID,
} from "@weir/formats/mp4";
import type { Slices } from "../../platform/slices.ts";
import type { StoredRendition, StoredSegment } from "../../ports/index.ts";
import type { StoredMedia } from "./stored-media.ts";
import { initTrackOf } from "./stored-track.ts";

const NOTHING = new Uint8Array();

/**
 * A rendition as one track of an MP4, with a single sample description. If the source changed its decoder configuration, it is the one with the
 * longest total duration, and each video segment then carries its own parameter sets. Audio of other configurations and video of other codecs are
 * omitted.
 */
export class Mp4Track {
  readonly stored: StoredRendition;
  readonly id: number;
  readonly timescale: number;
  readonly #description: InitDescription;
  /** The bytes before a segment's first sample, by its init segment. */
  readonly #prefixes: ReadonlyMap<string, Uint8Array>;

  private constructor(
    stored: StoredRendition,
    description: InitDescription,
    prefixes: ReadonlyMap<string, Uint8Array>,
  ) {
    this.stored = stored;
    this.id = stored.track.kind === "video" ? VIDEO_TRACK_ID : AUDIO_TRACK_ID;
    this.timescale = description.timescale;
    this.#description = description;
    this.#prefixes = prefixes;
  }

  static async open(stored: StoredRendition, media: StoredMedia, slices: Slices): Promise<Mp4Track> {
    const [longest = "", ...others] = await longestLasting(stored, slices);
    const describe = async (init: string): Promise<InitDescription> => {
      const bytes = await media.readInit(stored.rendition, init);
      if (!bytes) throw new Error(`the init segment ${init} of ${stored.rendition} is missing from the store`);
      return readInit(bytes);
    };
    const description = await describe(longest);
    const prefixes = new Map<string, Uint8Array>([[longest, NOTHING]]);
    for (const init of others) {
      const { picture, sampleEntry } = await describe(init);
      if (picture && entryType(sampleEntry) === entryType(description.sampleEntry))
        prefixes.set(init, parameterSetsOf(sampleEntry));
    }
    // A decoder keeps the last parameter sets it read, so segments of the main configuration must repeat theirs too.
    if (prefixes.size > 1) prefixes.set(longest, parameterSetsOf(description.sampleEntry));
    return new Mp4Track(stored, description, prefixes);
  }

  /** Whether a segment's samples can be in this track. */
  holds({ gap, init }: StoredSegment): boolean {
    return !gap && this.#prefixes.has(init);
  }

  /** The bytes before a segment's first sample, as part of it. */
  prefixOf({ init }: StoredSegment): Uint8Array {
    return this.#prefixes.get(init) ?? NOTHING;
  }

  get joint(): JointTrack {
    const { sampleEntry, picture } = this.#description;
    const track = initTrackOf({ ...this.stored.track, ...picture, timescale: this.timescale });
    return { track, sampleEntry: this.#prefixes.size > 1 ? inBandEntry(sampleEntry) : sampleEntry };
  }
}

/** Names of the init segments of a rendition, the one with the longest total duration first. */
async function longestLasting({ segments }: StoredRendition, slices: Slices): Promise<string[]> {
  const lasting = new Map<string, number>();
  await slices.forEach(segments, ({ gap, init, durationTicks }) => {
    if (!gap) lasting.set(init, (lasting.get(init) ?? 0) + durationTicks);
  });
  return [...lasting].sort(([, a], [, b]) => b - a).map(([init]) => init);
}
