import { avcConfig, describeAac, describeAvc, OPUS_SAMPLE_RATE, splitParameterSets } from "@weir/formats/codecs";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { FIRST_AUDIO_TRACK, type OpusTrack, Payload, type Publication, type Track, VIDEO_TRACK } from "../../packet.ts";
import { AudioConversion, type TranscodeChildren } from "../../transcode/index.ts";
import type { MediaFrame } from "../../webrtc/webrtc-protocol.ts";

const AAC_BPS = 128_000;

/**
 * The original Opus track, in addition to the AAC: WebRTC viewers get it without conversion. The fields of its configuration are defined in RFC 7845
 * 5.1.
 */
const OPUS_TRACK: OpusTrack = {
  id: FIRST_AUDIO_TRACK + 1,
  kind: "audio",
  codec: "opus",
  config: Uint8Array.of(0, 2, 0, 0, 0, 0, 0xbb, 0x80, 0, 0, 0),
  codecString: "opus",
  sampleRate: OPUS_SAMPLE_RATE,
  channels: 2,
  sameAs: FIRST_AUDIO_TRACK,
};

export interface WhipToPacketsSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly children: TranscodeChildren;
}

/**
 * Converts a WebRTC publisher's video and Opus to tracks and packets of its publication. The Opus is also converted to AAC, which every HLS player
 * supports.
 */
export class WhipToPackets {
  readonly #publication: Pick<Publication, "track" | "packet">;
  readonly #settings: WhipToPacketsSettings;
  #conversion: AudioConversion | null = null;
  #parameterSets = "";
  #hasAudio = false;

  constructor(publication: Pick<Publication, "track" | "packet">, settings: WhipToPacketsSettings) {
    this.#publication = publication;
    this.#settings = settings;
  }

  /** Throws `FormatError`. */
  frame(frame: MediaFrame): void {
    if (frame.kind === "video") this.#picture(frame);
    else this.#opus(frame);
  }

  close(): void {
    this.#conversion?.close();
    this.#conversion = null;
  }

  #picture({ isIndependent, time, data }: MediaFrame): void {
    const { sps, pps, picture } = splitParameterSets(data);
    if (sps && pps) this.#announce(sps, pps);
    if (this.#parameterSets === "" || picture.length === 0) return;
    this.#publication.packet({
      trackId: VIDEO_TRACK,
      kind: "video",
      dts: time,
      pts: time,
      isIndependent,
      data: new Payload(picture),
    });
  }

  #announce(sps: Uint8Array, pps: Uint8Array): void {
    const sets = `${Buffer.from(sps).toString("latin1")},${Buffer.from(pps).toString("latin1")}`;
    if (sets === this.#parameterSets) return;
    const config = avcConfig(sps, pps);
    const { codecString, width, height, frameRate } = describeAvc(config);
    this.#parameterSets = sets;
    const rate = frameRate === null ? {} : { frameRate };
    this.#publication.track({
      id: VIDEO_TRACK,
      kind: "video",
      codec: "avc",
      config,
      codecString,
      width,
      height,
      ...rate,
    });
  }

  #opus({ time, data }: MediaFrame): void {
    this.#conversion ??= this.#convert();
    this.#conversion.push(time, data);
    // Both tracks start together: a track that starts later would start a new stretch.
    if (this.#hasAudio) this.#sound(OPUS_TRACK.id, time, data);
  }

  #convert(): AudioConversion {
    const { clock, log, children } = this.#settings;
    return new AudioConversion({
      ...{ clock, log, children },
      source: { codec: "opus", config: "", sampleRate: OPUS_SAMPLE_RATE, channels: 2 },
      target: { codec: "aac", channels: 2, bitrateBps: AAC_BPS },
      onReady: (config) => this.#announceAudio(config),
      onPacket: (pts, data) => this.#sound(FIRST_AUDIO_TRACK, pts, data),
    });
  }

  #announceAudio(config: Uint8Array): void {
    const { codecString, sampleRate, channels, frameSamples } = describeAac(config);
    this.#hasAudio = true;
    const shape = { codecString, sampleRate, channels, frameSamples };
    this.#publication.track(OPUS_TRACK);
    this.#publication.track({ id: FIRST_AUDIO_TRACK, kind: "audio", codec: "aac", config: config.slice(), ...shape });
  }

  #sound(trackId: Track["id"], pts: number, data: Uint8Array): void {
    if (!this.#hasAudio) return;
    const packet = { trackId, kind: "audio", dts: pts, pts, isIndependent: true } as const;
    this.#publication.packet({ ...packet, data: new Payload(data) });
  }
}
