import type { SessionSound } from "../../ports/index.ts";
import { aacTrackOf } from "../described-track.ts";
import { type AudioTrack, FIRST_AUDIO_TRACK, type Track } from "../packet.ts";

/** Real configurations of audio have 2 to 40 bytes. A larger one is not saved with every position. */
const MAX_SAVED_BYTES = 256;

/**
 * The sound that players of a session may already know: of its newest stretch with audio or, before one, of an earlier session of the stream. Where
 * the source sends none, silence takes its place, because a player reads the list of tracks once.
 */
export class KnownSound {
  #tracks: readonly AudioTrack[];
  #heard: AudioTrack | null;

  /** `ofSession`: what an earlier process heard of this session; `ofLastSession`: of the one before. */
  constructor(ofSession: SessionSound | null, ofLastSession: SessionSound | null) {
    this.#heard = ofSession && trackOf(ofSession);
    const known = this.#heard ?? (ofLastSession && trackOf(ofLastSession));
    this.#tracks = known ? [known] : [];
  }

  /** The tracks of a stretch for which the source announces `announced`. */
  tracksFor(announced: readonly Track[]): readonly Track[] {
    const audio = announced.filter((track) => track.kind === "audio");
    if (audio.length === 0) return [...announced, ...this.#tracks];
    this.#tracks = audio;
    return announced;
  }

  /** A frame of this track came. */
  hear(track: AudioTrack): void {
    if (track.id === FIRST_AUDIO_TRACK) this.#heard = track;
  }

  /** The first audio track of which a frame has come in this session; null if there was no sound, or if its configuration is too large. */
  get heard(): SessionSound | null {
    if (!this.#heard || this.#heard.config.byteLength > MAX_SAVED_BYTES) return null;
    return { codec: this.#heard.codec, config: Buffer.from(this.#heard.config).toString("hex") };
  }
}

/** Null for a configuration that this version cannot read. */
function trackOf({ codec, config: hex }: SessionSound): AudioTrack | null {
  const config = new Uint8Array(Buffer.from(hex, "hex"));
  const place = { id: FIRST_AUDIO_TRACK, kind: "audio", config } as const;
  // The second byte of `dOps` is its number of channels.
  if (codec === "opus")
    return { ...place, codec, codecString: "opus", sampleRate: 48_000, channels: config[1] === 1 ? 1 : 2 };
  try {
    return aacTrackOf(config);
  } catch {
    return null;
  }
}
