import {
  AUDIO_TRACK_ID,
  type InitDescription,
  type InitTrack,
  type JointTrack,
  readInit,
  VIDEO_TRACK_ID,
} from "@weir/formats/mp4";
import type { Slices } from "../../../platform/slices.ts";
import type { StoredRendition, StoredSegment, StoredTrack } from "../../../ports/index.ts";

/** The bytes of an init segment; null where it cannot be had. */
export type ReadInit = (rendition: string, init: string) => Promise<Uint8Array | null>;

/** A rendition as one track of an MP4. It has one decoder configuration: where the source changed its own, the one that lasted longest. */
export class Mp4Track {
  readonly stored: StoredRendition;
  readonly id: number;
  readonly timescale: number;
  readonly #init: string;
  readonly #description: InitDescription;

  private constructor(stored: StoredRendition, init: string, description: InitDescription) {
    this.stored = stored;
    this.id = stored.track.kind === "video" ? VIDEO_TRACK_ID : AUDIO_TRACK_ID;
    this.timescale = description.timescale;
    this.#init = init;
    this.#description = description;
  }

  static async open(stored: StoredRendition, read: ReadInit, slices: Slices): Promise<Mp4Track> {
    const init = await longestLasting(stored, slices);
    const bytes = await read(stored.rendition, init);
    if (!bytes) throw new Error(`the store has no ${init} of ${stored.rendition}`);
    return new Mp4Track(stored, init, readInit(bytes));
  }

  /** Whether a segment's samples are of the track's decoder configuration. */
  holds({ gap, init }: StoredSegment): boolean {
    return !gap && init === this.#init;
  }

  get joint(): JointTrack {
    const { sampleEntry, picture } = this.#description;
    const track = initTrack({ ...this.stored.track, ...picture, timescale: this.timescale });
    return { track, sampleEntry };
  }
}

/** Name of the init segment that most of a rendition needs. */
async function longestLasting({ segments }: StoredRendition, slices: Slices): Promise<string> {
  const lasting = new Map<string, number>();
  await slices.forEach(segments, ({ gap, init, durationTicks }) => {
    if (!gap) lasting.set(init, (lasting.get(init) ?? 0) + durationTicks);
  });
  const [longest] = [...lasting].sort(([, a], [, b]) => b - a)[0] ?? [""];
  return longest;
}

function initTrack(track: StoredTrack): InitTrack {
  const config = Buffer.from(track.config, "base64");
  const { codec, timescale } = track;
  if (codec === "aac" || codec === "opus")
    return {
      kind: "audio",
      codec,
      config,
      timescale,
      sampleRate: track.sampleRate ?? timescale,
      channels: track.channels ?? 2,
    };
  return { kind: "video", codec, config, timescale, width: track.width ?? 0, height: track.height ?? 0 };
}
