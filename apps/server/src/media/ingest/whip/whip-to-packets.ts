import { avcConfig, OPUS_SAMPLE_RATE, splitParameterSets } from "@weir/formats/codecs";
import { videoTrackOf } from "../../described-track.ts";
import { Payload, type Publication, VIDEO_TRACK } from "../../packet.ts";
import type { AudioSource } from "../../transcode/index.ts";
import type { MediaFrame } from "../../webrtc/webrtc-protocol.ts";
import { ConvertedSound, type ConvertedSoundSettings } from "../converted-sound.ts";

const SOUND: AudioSource = { codec: "opus", config: "", sampleRate: OPUS_SAMPLE_RATE, channels: 2 };

/**
 * Converts a WebRTC publisher's video and Opus to tracks and packets of its publication. The Opus is also converted to AAC, which every HLS player
 * supports.
 */
export class WhipToPackets {
  readonly #publication: Pick<Publication, "track" | "packet">;
  readonly #settings: ConvertedSoundSettings;
  #sound: ConvertedSound | null = null;
  #parameterSets = "";
  #isClosed = false;

  constructor(publication: Pick<Publication, "track" | "packet">, settings: ConvertedSoundSettings) {
    this.#publication = publication;
    this.#settings = settings;
  }

  /** Throws `FormatError`. */
  frame(frame: MediaFrame): void {
    if (frame.kind === "video") this.#picture(frame);
    else {
      this.#sound ??= new ConvertedSound(this.#publication, SOUND, this.#settings);
      // By its tracks.
      if (this.#isClosed) this.close();
      else this.#sound.push(frame.time, frame.data);
    }
  }

  /** Also while a frame is passed on. */
  close(): void {
    this.#isClosed = true;
    this.#sound?.close();
    this.#sound = null;
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
    this.#publication.track(videoTrackOf("avc", avcConfig(sps, pps)));
    this.#parameterSets = sets;
  }
}
