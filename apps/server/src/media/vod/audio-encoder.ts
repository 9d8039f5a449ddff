import { AV_SAMPLE_FMT_FLTP, AVERROR_EAGAIN, AVERROR_EOF, FF_ENCODER_AAC } from "node-av/constants";
import { type CodecContext, Frame, type Packet } from "node-av/lib";
import { aacTrackOf } from "../described-track.ts";
import { type AacTrack, TICKS_PER_SECOND } from "../packet.ts";
import { AudioReencoder, type EncodedAudio } from "../transcode/audio-reencoder.ts";
import { openAudioEncoder } from "../transcode/ffmpeg.ts";
import { MAX_FILE_SECONDS } from "./file-spec.ts";
import { FileRefused } from "./refusal.ts";
import type { SourceTrack } from "./source-file.ts";
import { openTrackDecoder } from "./track-decoder.ts";

const BITRATE_PER_CHANNEL = 64_000;
/** Sample rates that every player supports; others are resampled to the last one. */
const RATES = [32_000, 44_100, 48_000];
/** Consecutive undecodable packets before any audio was produced. */
const HOPELESS_PACKETS = 200;

/** Decodes audio and re-encodes it as AAC with one or two channels. Gaps are filled with silence. */
export class AudioEncoder {
  readonly track: AacTrack;
  readonly #decoder: CodecContext;
  readonly #reencoder: AudioReencoder;
  readonly #frame = new Frame();
  #broken = 0;
  #inputNext = 0;

  private constructor(decoder: CodecContext, encoder: CodecContext) {
    this.#decoder = decoder;
    // Fills gaps, and drops samples before the start.
    const resample = (samples: number): string => `async=1:first_pts=${samples}`;
    this.#reencoder = new AudioReencoder({ encoder, unitsPerSecond: ({ sampleRate }) => sampleRate, resample });
    this.#frame.alloc();
    this.track = aacTrackOf(Buffer.from(encoder.extraData ?? []));
  }

  static async open(track: SourceTrack): Promise<AudioEncoder> {
    const { sampleRate, channels } = track.stream.codecpar;
    if (sampleRate <= 0 || channels <= 0)
      throw new FileRefused(`The audio of this file (${track.codec}) cannot be decoded. Export it again with AAC.`);
    return new AudioEncoder(
      await openTrackDecoder(track, "audio"),
      await openEncoder(sampleRate, Math.min(2, channels)),
    );
  }

  /** Decodes one packet whose first sample is at `ticks`, or null if it has no timestamp. */
  take(packet: Packet, ticks: number | null): EncodedAudio[] {
    if (this.#decoder.sendPacketSync(packet) < 0) return this.#isBroken();
    return this.#receive(ticks);
  }

  finish(): EncodedAudio[] {
    const rest = this.#decoder.sendPacketSync(null) >= 0 ? this.#receive(null) : [];
    return [...rest, ...this.#reencoder.finish().filter(isHeard)];
  }

  #isBroken(): EncodedAudio[] {
    if (++this.#broken >= HOPELESS_PACKETS && this.#reencoder.samples === 0)
      throw new FileRefused("The audio of this file cannot be decoded: it is damaged. Export it again with AAC.");
    return [];
  }

  #receive(ticks: number | null): EncodedAudio[] {
    const made: EncodedAudio[] = [];
    let at = ticks;
    for (;;) {
      const received = this.#decoder.receiveFrameSync(this.#frame);
      if (received === AVERROR_EAGAIN || received === AVERROR_EOF) return made;
      if (received < 0) {
        this.#isBroken();
        return made;
      }
      const seconds = at === null ? null : at / TICKS_PER_SECOND;
      at = null;
      if (seconds !== null && Math.abs(seconds) > MAX_FILE_SECONDS) continue;
      const { nbSamples, sampleRate } = this.#frame;
      const start = seconds === null ? this.#inputNext : Math.round(seconds * sampleRate);
      this.#inputNext = start + nbSamples;
      this.#frame.pts = BigInt(start);
      made.push(...this.#reencoder.push(this.#frame).filter(isHeard));
    }
  }
}

/** Frames before 0 are the encoder's priming samples. */
const isHeard = ({ time }: EncodedAudio): boolean => time >= 0;

function openEncoder(sourceRate: number, channels: number): Promise<CodecContext> {
  const sampleRate = RATES.includes(sourceRate) ? sourceRate : (RATES.at(-1) ?? sourceRate);
  return openAudioEncoder({
    ...{ encoder: FF_ENCODER_AAC, sampleFormat: AV_SAMPLE_FMT_FLTP, sampleRate, channels },
    bitrateBps: BITRATE_PER_CHANNEL * channels,
  });
}
