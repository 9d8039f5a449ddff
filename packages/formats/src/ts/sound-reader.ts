import { AAC_SAMPLE_RATES, OPUS_SAMPLE_RATE, opusPacketSamples } from "../codecs/index.ts";
import { ADTS_HEAD_BYTES } from "./adts.ts";
import { adtsFrameBytes, readAdtsFrame } from "./adts-frames.ts";
import { AudioFrames } from "./audio-frames.ts";
import { AC3_HEAD_BYTES, ac3Frame, MPEG_AUDIO_HEAD_BYTES, mpegAudioFrame } from "./compressed-audio.ts";
import { LatmFrames, LOAS_HEAD_BYTES, loasFrameBytes } from "./latm-frames.ts";
import { opusPackets } from "./opus-packets.ts";
import type { TsAudioCodec } from "./program-tables.ts";

const TICKS_PER_SECOND = 90_000;
const AAC_SAMPLES = 1024;

export interface SoundHandler {
  /** `config` is the AudioSpecificConfig of AAC; empty for other codecs. */
  configured(config: Uint8Array, sampleRate: number): void;
  /** `data` is valid until it returns. */
  frame(data: Uint8Array, presentation: number): void;
}

export interface SoundReader {
  /** Throws `FormatError` for what cannot be read. */
  push(payload: Uint8Array, presentation: number | null): void;
  lost(): void;
}

/** Reads the frames of an audio stream from its PES packets. */
export function soundReader(codec: TsAudioCodec, handler: SoundHandler): SoundReader {
  if (codec === "opus") return opusReader(handler);
  if (codec === "aac") return adtsReader(handler);
  if (codec === "aac-latm") return latmReader(handler);
  const isMpeg = codec === "mp2";
  const frameAt = isMpeg ? mpegAudioFrame : ac3Frame;
  const headBytes = isMpeg ? MPEG_AUDIO_HEAD_BYTES : AC3_HEAD_BYTES;
  let known = 0;
  return new AudioFrames({
    headBytes,
    sizeOf: (bytes, at) => frameAt(bytes, at).bytes,
    frame(data, presentation) {
      const { samples, sampleRate } = frameAt(data, 0);
      if (sampleRate !== known) handler.configured(new Uint8Array(0), sampleRate);
      known = sampleRate;
      handler.frame(data, presentation);
      return ticksOf(samples, sampleRate);
    },
  });
}

const ticksOf = (samples: number, sampleRate: number): number => (samples * TICKS_PER_SECOND) / sampleRate;

function adtsReader(handler: SoundHandler): SoundReader {
  let known = "";
  return new AudioFrames({
    headBytes: ADTS_HEAD_BYTES,
    sizeOf: adtsFrameBytes,
    frame(bytes, presentation) {
      const { config, sampleRate, data } = readAdtsFrame(bytes);
      const name = config.join();
      if (name !== known) handler.configured(config, sampleRate);
      known = name;
      handler.frame(data, presentation);
      return ticksOf(AAC_SAMPLES, sampleRate);
    },
  });
}

function latmReader(handler: SoundHandler): SoundReader {
  const latm = new LatmFrames();
  let known = "";
  return new AudioFrames({
    headBytes: LOAS_HEAD_BYTES,
    sizeOf: loasFrameBytes,
    frame(bytes, presentation) {
      const frames = latm.read(bytes);
      const { config, sampleRate = AAC_SAMPLE_RATES[3] ?? 1, frameSamples = AAC_SAMPLES } = latm.config ?? {};
      const name = config?.join() ?? "";
      if (config && name !== known) handler.configured(config, sampleRate);
      known = name;
      const ticks = ticksOf(frameSamples, sampleRate);
      for (const [index, data] of frames.entries()) handler.frame(data, presentation + index * ticks);
      return Math.max(1, frames.length) * ticks;
    },
  });
}

function opusReader(handler: SoundHandler): SoundReader {
  let next: number | null = null;
  let isKnown = false;
  return {
    push(payload, presentation) {
      next = presentation ?? next;
      if (next === null) return;
      if (!isKnown) handler.configured(new Uint8Array(0), OPUS_SAMPLE_RATE);
      isKnown = true;
      for (const data of opusPackets(payload)) {
        handler.frame(data, next);
        next += ticksOf(opusPacketSamples(data), OPUS_SAMPLE_RATE);
      }
    },
    lost() {
      next = null;
    },
  };
}
