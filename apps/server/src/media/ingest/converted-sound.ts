import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { aacTrackOf } from "../described-track.ts";
import { FIRST_AUDIO_TRACK, type OpusTrack, Payload, type Publication } from "../packet.ts";
import { AudioConversion, type AudioSource, CONVERTED_AAC, type TranscodeChildren } from "../transcode/index.ts";

const AAC_BPS = 128_000;
const OPUS_TRACK = FIRST_AUDIO_TRACK + 1;

export interface ConvertedSoundSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** Processes that convert audio. */
  readonly children: TranscodeChildren;
}

/**
 * The sound of a source that does not send AAC, converted to AAC, which every HLS player supports. Opus is published too, as a track of its own:
 * WebRTC viewers get it without conversion.
 *
 * Its tracks are announced at once, before the converter has started: a player that comes first reads the list of tracks once, and a track that starts
 * later would start a new stretch.
 */
export class ConvertedSound {
  readonly #publication: Pick<Publication, "track" | "packet">;
  readonly #conversion: AudioConversion;
  readonly #opus: OpusTrack | null;

  constructor(
    publication: Pick<Publication, "track" | "packet">,
    source: AudioSource,
    { clock, log, children }: ConvertedSoundSettings,
  ) {
    this.#publication = publication;
    this.#opus = source.codec === "opus" ? opusTrack(source.channels) : null;
    this.#conversion = new AudioConversion({
      ...{ clock, log, children, source },
      target: { codec: "aac", channels: 2, bitrateBps: AAC_BPS },
      onPacket: (pts, data) => this.#packet(FIRST_AUDIO_TRACK, pts, data),
    });
    if (this.#opus) publication.track(this.#opus);
    publication.track(aacTrackOf(CONVERTED_AAC));
  }

  /** Takes one frame. `data` must not change if it is Opus. */
  push(pts: number, data: Uint8Array): void {
    this.#conversion.push(pts, data);
    if (this.#opus) this.#packet(OPUS_TRACK, pts, data);
  }

  close(): void {
    this.#conversion.close();
  }

  #packet(trackId: number, pts: number, data: Uint8Array): void {
    const packet = { trackId, kind: "audio", dts: pts, pts, isIndependent: true } as const;
    this.#publication.packet({ ...packet, data: new Payload(data) });
  }
}

/** The fields of its configuration are defined in RFC 7845 5.1. */
function opusTrack(channels: number): OpusTrack {
  return {
    id: OPUS_TRACK,
    kind: "audio",
    codec: "opus",
    config: Uint8Array.of(0, channels, 0, 0, 0, 0, 0xbb, 0x80, 0, 0, 0),
    codecString: "opus",
    sampleRate: 48_000,
    channels,
    sameAs: FIRST_AUDIO_TRACK,
  };
}
