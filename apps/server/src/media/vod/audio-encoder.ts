import { describeAac } from "@weir/formats/codecs";
import { AV_SAMPLE_FMT_FLTP, AVERROR_EAGAIN, AVERROR_EOF, FF_ENCODER_AAC } from "node-av/constants";
import { Codec, CodecContext, Frame, Packet } from "node-av/lib";
import { type AacTrack, TICKS_PER_SECOND } from "../packet.ts";
import { AudioReshaper } from "../transcode/audio-reshaper.ts";
import { check, openAudioEncoder } from "../transcode/ffmpeg.ts";
import type { AudioFrame } from "./audio-line.ts";
import { MAX_FILE_SECONDS } from "./file-spec.ts";
import { FileRefused } from "./refusal.ts";
import type { SourceTrack } from "./source-file.ts";

const BITRATE_PER_CHANNEL = 64_000;
/** Sample rates that every player supports; others are resampled to the last one. */
const RATES = [32_000, 44_100, 48_000];
/** Consecutive undecodable packets before any audio was produced. */
const HOPELESS_PACKETS = 200;

/** Decodes audio and re-encodes it as AAC with one or two channels. Gaps are filled with silence. */
export class AudioEncoder {
  readonly track: AacTrack;
  readonly #decoder: CodecContext;
  readonly #encoder: CodecContext;
  readonly #frame = new Frame();
  readonly #filtered = new Frame();
  readonly #packet = new Packet();
  readonly #reshaper: AudioReshaper;
  #broken = 0;
  #samplesOut = 0;

  private constructor(decoder: CodecContext, encoder: CodecContext) {
    this.#decoder = decoder;
    this.#encoder = encoder;
    // Fills gaps, and drops samples before the start.
    const resample = (): string => `async=1:first_pts=${this.#samplesOut}`;
    this.#reshaper = new AudioReshaper({ encoder, unitsPerSecond: ({ sampleRate }) => sampleRate, resample });
    for (const each of [this.#frame, this.#filtered, this.#packet]) each.alloc();
    const config = Buffer.from(encoder.extraData ?? []);
    this.track = { id: 1, kind: "audio", codec: "aac", config, ...describeAac(config) };
  }

  static async open({ stream, codec: name }: SourceTrack): Promise<AudioEncoder> {
    const { codecpar } = stream;
    const codec = Codec.findDecoder(codecpar.codecId);
    if (!codec)
      throw new FileRefused(`This build of FFmpeg has no decoder for the file's audio (${name}). Export it with AAC.`);
    const decoder = new CodecContext();
    decoder.allocContext3(codec);
    check(codecpar.toContext(decoder), "cannot configure the audio decoder");
    decoder.pktTimebase = stream.timeBase;
    decoder.threadCount = 1;
    if ((await decoder.open2(codec)) < 0 || codecpar.sampleRate <= 0 || codecpar.channels <= 0)
      throw new FileRefused(`The audio of this file (${name}) cannot be decoded. Export it again with AAC.`);
    return new AudioEncoder(decoder, await openEncoder(codecpar.sampleRate, Math.min(2, codecpar.channels)));
  }

  /** Decodes one packet whose first sample is at `ticks`, or null if it has no timestamp. */
  take(packet: Packet, ticks: number | null): AudioFrame[] {
    if (this.#decoder.sendPacketSync(packet) < 0) return this.#isBroken();
    return this.#receive(ticks);
  }

  finish(): AudioFrame[] {
    const frames = this.#decoder.sendPacketSync(null) >= 0 ? this.#receive(null) : [];
    if (!this.#hasBegun) return frames;
    this.#reshaper.finish();
    frames.push(...this.#encodeFiltered());
    check(this.#encoder.sendFrameSync(null), "cannot flush the audio encoder");
    frames.push(...this.#drain());
    return frames;
  }

  #isBroken(): AudioFrame[] {
    if (++this.#broken >= HOPELESS_PACKETS && this.#samplesOut === 0)
      throw new FileRefused("The audio of this file cannot be decoded: it is damaged. Export it again with AAC.");
    return [];
  }

  #receive(ticks: number | null): AudioFrame[] {
    const frames: AudioFrame[] = [];
    let at = ticks;
    for (;;) {
      const received = this.#decoder.receiveFrameSync(this.#frame);
      if (received === AVERROR_EAGAIN || received === AVERROR_EOF) return frames;
      if (received < 0) {
        this.#isBroken();
        return frames;
      }
      const seconds = at === null ? null : at / TICKS_PER_SECOND;
      at = null;
      if (seconds !== null && Math.abs(seconds) > MAX_FILE_SECONDS) continue;
      const { nbSamples, sampleRate } = this.#frame;
      const start = seconds === null ? this.#inputNext : Math.round(seconds * sampleRate);
      this.#inputNext = start + nbSamples;
      this.#frame.pts = BigInt(start);
      this.#reshaper.push(this.#frame);
      this.#hasBegun = true;
      frames.push(...this.#encodeFiltered());
    }
  }
  #inputNext = 0;
  #hasBegun = false;

  #encodeFiltered(): AudioFrame[] {
    const frames: AudioFrame[] = [];
    while (this.#reshaper.pull(this.#filtered)) {
      // The filter fills every gap, so counting samples gives the time.
      this.#filtered.pts = BigInt(this.#samplesOut);
      this.#samplesOut += this.#filtered.nbSamples;
      const sent = this.#encoder.sendFrameSync(this.#filtered);
      this.#filtered.unref();
      check(sent, "cannot encode audio");
      frames.push(...this.#drain());
    }
    return frames;
  }

  #drain(): AudioFrame[] {
    const frames: AudioFrame[] = [];
    for (;;) {
      const received = this.#encoder.receivePacketSync(this.#packet);
      if (received === AVERROR_EAGAIN || received === AVERROR_EOF) return frames;
      check(received, "cannot encode audio");
      const time = Number(this.#packet.pts);
      // Frames before 0 are the encoder's priming samples.
      if (time >= 0) frames.push({ time, data: Uint8Array.from(this.#packet.data ?? []) });
      this.#packet.unref();
    }
  }
}

function openEncoder(sourceRate: number, channels: number): Promise<CodecContext> {
  const sampleRate = RATES.includes(sourceRate) ? sourceRate : (RATES.at(-1) ?? sourceRate);
  return openAudioEncoder({
    ...{ encoder: FF_ENCODER_AAC, sampleFormat: AV_SAMPLE_FMT_FLTP, sampleRate, channels },
    bitrateBps: BITRATE_PER_CHANNEL * channels,
  });
}
