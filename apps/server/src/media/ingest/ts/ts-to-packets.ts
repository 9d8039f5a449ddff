import { type TsAudioTrack, type TsFrame, TsReader, type TsVideoTrack } from "@weir/formats/ts";
import { aacTrackOf, videoTrackOf } from "../../described-track.ts";
import { FIRST_AUDIO_TRACK, Payload, type PayloadMemory, type Publication, VIDEO_TRACK } from "../../packet.ts";
import { AwaitedPicture } from "../awaited-picture.ts";
import { ConvertedSound, type ConvertedSoundSettings } from "../converted-sound.ts";
import { leftOutSentence } from "../left-out.ts";
import { UnsupportedCodec } from "../publish-refusals.ts";

/** WebRTC and the converter know no more. */
const MAX_OPUS_CHANNELS = 2;
const REMEDY = {
  video: "Set the encoder to H.264 or HEVC.",
  audio: "Set the encoder to AAC.",
};

export interface TsToPacketsSettings extends ConvertedSoundSettings {
  readonly memory: PayloadMemory & { allocate(bytes: number): Uint8Array };
}

/** Converts an MPEG transport stream to tracks and packets of a publication: its first video and its first audio track. */
export class TsToPackets {
  readonly #publication: Pick<Publication, "track" | "packet">;
  readonly #settings: TsToPacketsSettings;
  readonly #reader: TsReader;
  readonly #picture = new AwaitedPicture();
  #sound: { readonly converted: ConvertedSound; readonly codec: TsAudioTrack["codec"] } | null = null;
  #hasTrack = false;
  #leftOut: string | null = null;
  #isClosed = false;

  constructor(publication: Pick<Publication, "track" | "packet">, settings: TsToPacketsSettings) {
    this.#publication = publication;
    this.#settings = settings;
    this.#reader = new TsReader(
      {
        track: (track) => (track.kind === "video" ? this.#video(track) : this.#audio(track)),
        frame: (frame) => this.#frame(frame),
        unsupported: (medium, name) => {
          throw unsupported(medium, name);
        },
        program: ({ video, audio, captions }) => {
          if (video > 0) this.#picture.announced();
          this.#leftOut = leftOutSentence({ video: Math.max(0, video - 1), audio: Math.max(0, audio - 1), captions });
        },
      },
      (bytes) => settings.memory.allocate(bytes),
    );
  }

  /** Pictures and audio that were left out, because a part of them was missing. */
  get damaged(): number {
    return this.#reader.damaged;
  }

  /** What is missing before there is media, as a sentence; null once a track was found. */
  get missing(): string | null {
    if (this.#hasTrack) return null;
    const { progress } = this.#reader;
    if (progress === "nothing") return "What arrived is not an MPEG transport stream. Set the encoder to MPEG-TS.";
    if (progress === "packets")
      return "The transport stream has no table (PAT and PMT) with video or audio. Restart the encoder.";
    return "The transport stream has no keyframe with parameter sets. Set the keyframe interval of the encoder to 2 s.";
  }

  /** What is there and not taken, as a sentence; null if nothing is. */
  get leftOut(): string | null {
    return this.#leftOut;
  }

  /** Throws `UnsupportedCodec` and `FormatError`. */
  push(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  /** The source has ended: passes on what is whole. Throws as `push` does. */
  end(): void {
    this.#reader.end();
  }

  /** Also while `push` passes something on: of the rest of its bytes nothing is. */
  close(): void {
    this.#isClosed = true;
    this.#closeSound();
  }

  #closeSound(): void {
    this.#sound?.converted.close();
    this.#sound = null;
  }

  #video({ codec, config }: TsVideoTrack): void {
    const track = videoTrackOf(codec, config);
    this.#hasTrack = true;
    this.#publication.track(track);
  }

  #audio({ index, codec, config, sampleRate, channels, language }: TsAudioTrack): void {
    if (index > 0 || this.#isClosed) return;
    if (this.#sound && this.#sound.codec !== codec) this.#closeSound();
    this.#hasTrack = true;
    if (codec !== "aac") {
      if (codec === "opus" && channels > MAX_OPUS_CHANNELS)
        throw unsupported("audio", `Opus with ${channels} channels`);
      const source = { codec, config: "", sampleRate, channels: channels || 2 };
      this.#sound ??= { codec, converted: new ConvertedSound(this.#publication, source, this.#settings) };
      // By its tracks.
      if (this.#isClosed) this.#closeSound();
      return;
    }
    this.#publication.track({ ...aacTrackOf(config.slice()), ...(language !== null && { language }) });
  }

  #frame({ kind, index, decode, presentation, isIndependent, data }: TsFrame): void {
    const { memory } = this.#settings;
    if (this.#isClosed) return memory.release(data);
    if (kind === "video") this.#picture.settled();
    else if (index > 0 || this.#picture.leavesOut(presentation)) return memory.release(data);
    const sound = kind === "audio" ? this.#sound : null;
    if (sound) {
      sound.converted.push(presentation, data);
      // Readers of the feed keep Opus: it is left to the garbage collector.
      if (sound.codec !== "opus") memory.release(data);
      return;
    }
    this.#publication.packet({
      ...{ trackId: kind === "video" ? VIDEO_TRACK : FIRST_AUDIO_TRACK, kind, dts: decode, pts: presentation },
      ...{ isIndependent, data: new Payload(data, memory) },
    });
  }
}

const unsupported = (medium: "video" | "audio", name: string): UnsupportedCodec =>
  new UnsupportedCodec(`This server does not support ${name} ${medium}. ${REMEDY[medium]}`);
